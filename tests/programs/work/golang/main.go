// SPDX-License-Identifier: Apache-2.0

// Go: goroutines, files, processes, sockets, memory. A line for each check, and 1..N.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"
)

type check struct {
	name string
	run  func() error
}

func equal(got, wanted any) error {
	if got != wanted {
		return fmt.Errorf("%v, not %v", got, wanted)
	}
	return nil
}

// first returns the first error, if there is one.
func first(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func goroutines() error {
	var wait sync.WaitGroup
	var lock sync.Mutex
	sum := 0
	for n := 0; n < 1000; n++ {
		wait.Add(1)
		go func(n int) {
			defer wait.Done()
			runtime.Gosched()
			lock.Lock()
			sum += n
			lock.Unlock()
		}(n)
	}
	wait.Wait()
	locked := make(chan int)
	for n := 0; n < 20; n++ {
		go func() {
			runtime.LockOSThread()
			time.Sleep(time.Millisecond)
			locked <- 1
		}()
	}
	for n := 0; n < 20; n++ {
		sum += <-locked
	}
	return equal(sum, 499520)
}

func timers() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	<-ctx.Done()
	ticker := time.NewTicker(time.Millisecond)
	defer ticker.Stop()
	for n := 0; n < 5; n++ {
		<-ticker.C
	}
	return equal(ctx.Err(), context.DeadlineExceeded)
}

func files() error {
	if err := os.MkdirAll("d/e", 0o755); err != nil {
		return err
	}
	if err := os.WriteFile("d/f", bytes.Repeat([]byte("x"), 100000), 0o644); err != nil {
		return err
	}
	from, err := os.Open("d/f")
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.Create("d/e/copy")
	if err != nil {
		return err
	}
	defer to.Close()
	if n, err := io.Copy(to, from); err != nil || n != 100000 {
		return fmt.Errorf("copied %d: %v", n, err)
	}
	if err := first(os.Symlink("f", "d/soft"), os.Link("d/f", "d/hard"),
		os.Rename("d/hard", "d/moved"), os.Chmod("d/f", 0o600), to.Truncate(10), to.Sync(),
		os.Chtimes("d/f", time.Unix(1, 0), time.Unix(2, 0)), os.Chown("d/f", os.Getuid(), -1)); err != nil {
		return err
	}
	seen := 0
	if err := filepath.Walk("d", func(string, os.FileInfo, error) error { seen++; return nil }); err != nil {
		return err
	}
	if err := equal(seen, 6); err != nil {
		return err
	}
	temporary, err := os.MkdirTemp(".", "t")
	if err != nil {
		return err
	}
	return os.RemoveAll(temporary)
}

func processes() error {
	command := exec.Command("tr", "a-z", "A-Z")
	command.Stdin = strings.NewReader("words")
	out, err := command.Output()
	if err != nil || string(out) != "WORDS" {
		return fmt.Errorf("%q: %v", out, err)
	}
	err = exec.Command("sh", "-c", "exit 7").Run()
	if failure := new(exec.ExitError); !errors.As(err, &failure) || failure.ExitCode() != 7 {
		return fmt.Errorf("exit: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if exec.CommandContext(ctx, "sleep", "60").Run() == nil {
		return errors.New("sleep was not ended")
	}
	group := exec.Command("sleep", "60")
	group.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := group.Start(); err != nil {
		return err
	}
	if err := syscall.Kill(-group.Process.Pid, syscall.SIGTERM); err != nil {
		return err
	}
	_ = group.Wait()
	if _, err := exec.LookPath("no-such-program"); err == nil {
		return errors.New("found what is not there")
	}
	return nil
}

func signals() error {
	seen := make(chan os.Signal, 1)
	signal.Notify(seen, syscall.SIGUSR1)
	defer signal.Stop(seen)
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		return err
	}
	return equal(<-seen, syscall.SIGUSR1)
}

func serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			_, _ = io.Copy(connection, connection)
			_ = connection.Close()
		}()
	}
}

func sockets() error {
	for _, where := range [][2]string{{"tcp", "127.0.0.1:0"}, {"unix", "socket"}} {
		listener, err := net.Listen(where[0], where[1])
		if err != nil {
			return err
		}
		go serve(listener)
		address := listener.Addr()
		failures := make(chan error)
		for n := 0; n < 20; n++ {
			go func() {
				client, err := net.Dial(address.Network(), address.String())
				if err != nil {
					failures <- err
					return
				}
				defer client.Close()
				_ = client.SetDeadline(time.Now().Add(20 * time.Second))
				_, _ = client.Write([]byte("through"))
				back := make([]byte, 7)
				_, err = io.ReadFull(client, back)
				failures <- err
			}()
		}
		for n := 0; n < 20; n++ {
			if err := <-failures; err != nil {
				return err
			}
		}
		_ = listener.Close()
	}
	one, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer one.Close()
	if _, err := one.WriteTo([]byte("datagram"), one.LocalAddr()); err != nil {
		return err
	}
	n, _, err := one.ReadFrom(make([]byte, 100))
	if err != nil {
		return err
	}
	if _, err := net.Interfaces(); err != nil {
		return err
	}
	return equal(n, 8)
}

func filesIntoSockets() error {
	if err := os.WriteFile("sent", bytes.Repeat([]byte("y"), 300000), 0o644); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	go func() {
		if connection, err := listener.Accept(); err == nil {
			if file, err := os.Open("sent"); err == nil {
				_, _ = io.Copy(connection, file) // sendfile
				_ = file.Close()
			}
			_ = connection.Close()
		}
	}()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		return err
	}
	defer client.Close()
	file, err := os.Create("received")
	if err != nil {
		return err
	}
	defer file.Close()
	n, err := io.Copy(file, client) // splice
	if err != nil {
		return err
	}
	return equal(n, int64(300000))
}

func memory() error {
	kept := make([][]byte, 0)
	for n := 0; n < 3000; n++ {
		one := make([]byte, 50000)
		if n%100 == 0 {
			kept = append(kept, one)
		}
	}
	runtime.GC()
	debug.FreeOSMemory()
	mapped, err := syscall.Mmap(-1, 0, 1<<16, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return err
	}
	mapped[100] = 1
	if err := syscall.Munmap(mapped); err != nil {
		return err
	}
	return equal(len(kept), 30)
}

func faults() (err error) {
	defer func() {
		if recover() == nil {
			err = errors.New("no panic")
		}
	}()
	var nothing *check
	_ = nothing.name
	return nil
}

func main() {
	checks := []check{{"goroutines", goroutines}, {"timers", timers}, {"files", files},
		{"processes", processes}, {"signals", signals}, {"sockets", sockets},
		{"files_into_sockets", filesIntoSockets}, {"memory", memory}, {"faults", faults}}
	failed := 0
	for _, one := range checks {
		if err := one.run(); err != nil {
			failed++
			fmt.Println("not ok", one.name, strings.Join(strings.Fields(err.Error()), " "))
		} else {
			fmt.Println("ok", one.name)
		}
	}
	fmt.Printf("1..%d\n", len(checks))
	if failed > 0 {
		os.Exit(1)
	}
}
