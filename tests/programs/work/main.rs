// SPDX-License-Identifier: Apache-2.0
//! Rust's standard library: threads, files, processes, sockets. A line for each check, 1..N.
use std::collections::HashMap;
use std::error::Error;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::{symlink, FileExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};
use std::sync::{mpsc, Arc, Barrier, Condvar, Mutex, RwLock};
use std::time::{Duration, Instant, SystemTime};
use std::{env, fs, panic, thread};

type Outcome = Result<(), Box<dyn Error>>;

fn equal<T: PartialEq + std::fmt::Debug>(got: T, wanted: T) -> Outcome {
    if got == wanted { Ok(()) } else { Err(format!("{got:?}, not {wanted:?}").into()) }
}

fn threads() -> Outcome {
    let sum = Arc::new(Mutex::new(0));
    let barrier = Arc::new(Barrier::new(8));
    let all: Vec<_> = (0..8).map(|n| {
        let (sum, barrier) = (sum.clone(), barrier.clone());
        thread::Builder::new().name(format!("t{n}")).stack_size(256 << 10).spawn(move || {
            barrier.wait();
            for _ in 0..1000 { *sum.lock().unwrap() += 1; }
        })
    }).collect();
    for one in all { one?.join().map_err(|_| "a panic")?; }
    equal(*sum.lock().unwrap(), 8000)?;
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| { for n in 0..10 { let send = send.clone(); scope.spawn(move || send.send(n)); } });
    drop(send);
    equal(receive.iter().sum::<i32>(), 45)?;
    let pair = (Mutex::new(false), Condvar::new());
    let (guard, late) = pair.1.wait_timeout(pair.0.lock().unwrap(), Duration::from_millis(5)).unwrap();
    equal((*guard, late.timed_out()), (false, true))?;
    drop(guard);
    let shared = RwLock::new(HashMap::from([(1, 2)]));
    shared.write().unwrap().insert(3, 4);
    equal(shared.read().unwrap().len(), 2)?;
    equal(thread::available_parallelism()?.get() > 0, true)
}

fn files() -> Outcome {
    fs::create_dir_all("d/e")?;
    fs::write("d/f", "x".repeat(100_000))?;
    equal(fs::copy("d/f", "d/e/copy")?, 100_000)?;
    symlink("f", "d/soft")?;
    fs::hard_link("d/f", "d/hard")?;
    fs::rename("d/hard", "d/moved")?;
    fs::set_permissions("d/f", fs::Permissions::from_mode(0o600))?;
    equal(fs::metadata("d/moved")?.permissions().mode() & 0o777, 0o600)?;
    let mut file = fs::OpenOptions::new().read(true).write(true).open("d/f")?;
    file.write_all(b"abc")?;
    file.write_at(b"def", 10)?;
    file.seek(SeekFrom::Start(10))?;
    let mut back = [0; 3];
    file.read_exact(&mut back)?;
    equal(&back, b"def")?;
    file.set_len(50)?;
    file.sync_all()?;
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(9))?;
    equal(fs::read_dir("d")?.count(), 4)?;
    equal(fs::read_link("d/soft")?.to_str(), Some("f"))?;
    io::copy(&mut fs::File::open("d/e/copy")?, &mut fs::File::create("d/again")?)?;
    equal(fs::metadata("d/again")?.len(), 100_000)?;
    fs::remove_dir_all("d")?;
    equal(fs::metadata("d").is_err(), true)
}

fn processes() -> Outcome {
    let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().ok_or("no stdin")?.write_all(b"words")?;
    equal(child.wait_with_output()?.stdout, b"words".to_vec())?;
    equal(Command::new("sh").args(["-c", "exit 7"]).status()?.code(), Some(7))?;
    let mut sleep = Command::new("sleep").arg("60").process_group(0).spawn()?;
    equal(sleep.try_wait()?.is_none(), true)?;
    sleep.kill()?;
    equal(sleep.wait()?.signal(), Some(9))?;
    let in_root = unsafe { Command::new("pwd").current_dir("/").env_clear().pre_exec(|| Ok(())).output()? };
    equal(in_root.stdout, b"/\n".to_vec())?;
    equal(Command::new("/no/such").spawn().is_err(), true)
}

fn sockets() -> Outcome {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let server = thread::spawn(move || -> io::Result<u64> {
        let (stream, _) = listener.accept()?;
        io::copy(&mut &stream, &mut &stream)
    });
    let mut client = TcpStream::connect_timeout(&address, Duration::from_secs(20))?;
    client.set_nodelay(true)?;
    client.set_read_timeout(Some(Duration::from_secs(20)))?;
    client.write_all(b"through")?;
    client.shutdown(std::net::Shutdown::Write)?;
    let mut text = String::new();
    client.read_to_string(&mut text)?;
    equal(text.as_str(), "through")?;
    equal(server.join().map_err(|_| "a panic")??, 7)?;
    let udp = UdpSocket::bind("127.0.0.1:0")?;
    udp.send_to(b"datagram", udp.local_addr()?)?;
    equal(udp.recv(&mut [0; 100])?, 8)?;
    let (mut one, mut two) = UnixStream::pair()?;
    one.write_all(b"x")?;
    two.read_exact(&mut [0])?;
    UnixListener::bind("socket")?;
    Ok(())
}

fn files_into_sockets_and_pipes() -> Outcome {
    fs::write("sent", vec![7; 300_000])?;
    let (one, mut two) = UnixStream::pair()?;
    let sender = thread::spawn(move || io::copy(&mut fs::File::open("sent")?, &mut { one }));
    let mut got = Vec::new();
    two.read_to_end(&mut got)?;
    equal(sender.join().map_err(|_| "a panic")??, 300_000)?;
    equal(got.len(), 300_000)
}

fn clocks_and_environment() -> Outcome {
    let start = Instant::now();
    thread::sleep(Duration::from_millis(5));
    equal(start.elapsed() >= Duration::from_millis(5), true)?;
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    equal(env::current_dir()?.is_absolute(), true)?;
    equal(env::current_exe()?.exists(), true)
}

fn panics_are_caught() -> Outcome {
    panic::set_hook(Box::new(|_| ()));
    equal(panic::catch_unwind(|| panic!("caught")).is_err(), true)?;
    equal(thread::spawn(|| panic!("in a thread")).join().is_err(), true)
}

fn main() {
    let checks: [(&str, fn() -> Outcome); 7] = [
        ("threads", threads), ("files", files), ("processes", processes), ("sockets", sockets),
        ("files_into_sockets_and_pipes", files_into_sockets_and_pipes),
        ("clocks_and_environment", clocks_and_environment), ("panics_are_caught", panics_are_caught),
    ];
    let mut failed = 0;
    for (name, check) in checks {
        match check() {
            Ok(()) => println!("ok {name}"),
            Err(error) => { failed = 1; println!("not ok {name} {error}") }
        }
    }
    println!("1..{}", checks.len());
    std::process::exit(failed);
}
