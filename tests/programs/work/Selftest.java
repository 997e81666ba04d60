// SPDX-License-Identifier: Apache-2.0
// Java: threads, files, sockets, processes, compiling. A line for each check, and 1..N.
import java.io.*;
import java.lang.management.*;
import java.net.*;
import java.net.http.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
import java.util.stream.*;
import java.util.zip.*;

public class Selftest {
    interface Check { void run() throws Throwable; }

    static final Map<String, Check> CHECKS = new LinkedHashMap<>();

    static void equal(Object got, Object wanted) {
        if (!Objects.equals(got, wanted)) throw new AssertionError(got + ", not " + wanted);
    }

    static void threads() throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(8);
        AtomicLong sum = new AtomicLong();
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < 200; i++) { final int n = i; all.add(pool.submit(() -> sum.addAndGet(n))); }
        for (Future<?> one : all) one.get();
        pool.shutdown();
        equal(sum.get(), 19900L);
        equal(IntStream.range(0, 100000).parallel().mapToLong(n -> n).sum(), 4999950000L);
        equal(CompletableFuture.supplyAsync(() -> 6).thenCombineAsync(
                CompletableFuture.supplyAsync(() -> 7), (a, b) -> a * b).get(), 42);
        Object lock = new Object();
        synchronized (lock) { lock.wait(5); }
        ScheduledExecutorService later = Executors.newScheduledThreadPool(1);
        equal(later.schedule(() -> 1, 5, TimeUnit.MILLISECONDS).get(), 1);
        later.shutdownNow();
    }

    static void files() throws Exception {
        Path d = Files.createDirectories(Path.of("d/e"));
        Path f = Files.writeString(d.resolve("f"), "x".repeat(100000));
        Files.copy(f, d.resolve("g"));
        Files.move(d.resolve("g"), d.resolve("h"), StandardCopyOption.ATOMIC_MOVE);
        Files.createLink(d.resolve("hard"), f);
        Files.createSymbolicLink(d.resolve("soft"), Path.of("f"));
        equal(Files.readSymbolicLink(d.resolve("soft")).toString(), "f");
        Files.setPosixFilePermissions(f, PosixFilePermissions.fromString("rw-r-----"));
        Files.setLastModifiedTime(f, FileTime.fromMillis(1000));
        equal(Files.getLastModifiedTime(d.resolve("hard")).toMillis(), 1000L);
        try (Stream<Path> walk = Files.walk(Path.of("d"))) { equal(walk.count(), 6L); }
        if (Files.getFileStore(f).getTotalSpace() <= 0) throw new AssertionError("no space");
        Files.delete(Files.createTempFile(d, "t", ""));
        if (!Files.isSameFile(f, d.resolve("soft"))) throw new AssertionError("not the same");
    }

    static void channels() throws Exception {
        try (FileChannel c = FileChannel.open(Path.of("c"), StandardOpenOption.CREATE,
                StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MappedByteBuffer map = c.map(FileChannel.MapMode.READ_WRITE, 0, 1 << 16);
            map.put("mapped".getBytes());
            map.force();
            byte[] back = new byte[6];
            c.read(ByteBuffer.wrap(back), 0);
            equal(new String(back), "mapped");
            c.write(new ByteBuffer[] {ByteBuffer.wrap(new byte[10]), ByteBuffer.allocateDirect(10)});
            try (FileLock lock = c.lock()) { equal(lock.isValid(), true); }
            c.force(true);
            try (FileChannel to = FileChannel.open(Path.of("c2"), StandardOpenOption.CREATE,
                    StandardOpenOption.WRITE)) { equal(c.transferTo(0, 1 << 16, to), 1L << 16); }
        }
        try (AsynchronousFileChannel c = AsynchronousFileChannel.open(Path.of("c"))) {
            equal(c.read(ByteBuffer.allocate(6), 0).get(), 6);
        }
    }

    /** A user has few watchers, and other work of the same user may hold them for a moment. */
    static WatchService watcher(Path d) throws Exception {
        for (int tries = 0;; tries++) {
            try { return d.getFileSystem().newWatchService(); }
            catch (IOException error) { if (tries == 100) throw error; }
            Thread.sleep(100);
        }
    }

    static void changesOfFilesAreWatched() throws Exception {
        Path d = Files.createDirectories(Path.of("watched"));
        try (WatchService watch = watcher(d)) {
            d.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            Files.createFile(d.resolve("new"));
            equal(watch.take().pollEvents().get(0).context().toString(), "new");
        }
    }

    static void sockets() throws Exception {
        InetAddress here = InetAddress.getByName("127.0.0.1");
        try (ServerSocket server = new ServerSocket(0, 50, here)) {
            Thread echo = new Thread(() -> {
                try (Socket s = server.accept()) { s.getInputStream().transferTo(s.getOutputStream()); }
                catch (IOException e) { throw new UncheckedIOException(e); }
            });
            echo.start();
            try (Socket s = new Socket(here, server.getLocalPort())) {
                s.setTcpNoDelay(true);
                s.setSoTimeout(20000);
                s.getOutputStream().write("through".getBytes());
                s.shutdownOutput();
                equal(new String(s.getInputStream().readAllBytes()), "through");
            }
            echo.join();
        }
        try (DatagramSocket one = new DatagramSocket(0, here); DatagramSocket two = new DatagramSocket()) {
            two.send(new DatagramPacket("datagram".getBytes(), 8, here, one.getLocalPort()));
            DatagramPacket got = new DatagramPacket(new byte[100], 100);
            one.receive(got);
            equal(got.getLength(), 8);
        }
        Collections.list(NetworkInterface.getNetworkInterfaces());
    }

    static void selectors() throws Exception {
        try (Selector selector = Selector.open(); ServerSocketChannel server = ServerSocketChannel.open()) {
            server.bind(new InetSocketAddress("127.0.0.1", 0)).configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
            try (SocketChannel client = SocketChannel.open(server.getLocalAddress())) {
                equal(selector.select(20000), 1);
                server.accept().close();
                equal(client.read(ByteBuffer.allocate(1)), -1);
            }
        }
        Path path = Path.of("socket");
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(path));
            try (SocketChannel client = SocketChannel.open(UnixDomainSocketAddress.of(path));
                 SocketChannel other = server.accept()) {
                other.write(ByteBuffer.wrap(new byte[3]));
                equal(client.read(ByteBuffer.allocate(9)), 3);
            }
        }
        try (AsynchronousServerSocketChannel server = AsynchronousServerSocketChannel.open()) {
            server.bind(new InetSocketAddress("127.0.0.1", 0));
            Future<AsynchronousSocketChannel> accepted = server.accept();
            try (AsynchronousSocketChannel client = AsynchronousSocketChannel.open()) {
                client.connect(server.getLocalAddress()).get();
                equal(accepted.get().write(ByteBuffer.wrap(new byte[4])).get(), 4);
                equal(client.read(ByteBuffer.allocate(9)).get(), 4);
            }
        }
        Pipe pipe = Pipe.open();
        pipe.sink().write(ByteBuffer.wrap(new byte[2]));
        equal(pipe.source().read(ByteBuffer.allocate(9)), 2);
    }

    static void webServerOnLoopback() throws Exception {
        var server = com.sun.net.httpserver.HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
        server.createContext("/", x -> {
            byte[] all = x.getRequestBody().readAllBytes();
            x.sendResponseHeaders(200, all.length);
            try (OutputStream out = x.getResponseBody()) { out.write(all); }
        });
        server.start();
        URI uri = URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
        HttpClient client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
        for (int i = 0; i < 5; i++) {
            var request = HttpRequest.newBuilder(uri).POST(HttpRequest.BodyPublishers.ofString("n" + i)).build();
            equal(client.send(request, HttpResponse.BodyHandlers.ofString()).body(), "n" + i);
        }
        server.stop(0);
    }

    static void processes() throws Exception {
        Process cat = new ProcessBuilder("cat").start();
        cat.outputWriter().append("words").close();
        equal(new String(cat.getInputStream().readAllBytes()), "words");
        equal(cat.waitFor(), 0);
        equal(new ProcessBuilder("sh", "-c", "exit 7").inheritIO().start().waitFor(), 7);
        Process sleep = new ProcessBuilder("sleep", "60").start();
        equal(sleep.waitFor(5, TimeUnit.MILLISECONDS), false);
        equal(sleep.toHandle().destroyForcibly(), true);
        equal(sleep.waitFor(), 137);
        List<Process> line = ProcessBuilder.startPipeline(List.of(
                new ProcessBuilder("echo", "abc"), new ProcessBuilder("tr", "a-z", "A-Z")));
        equal(new String(line.get(1).getInputStream().readAllBytes()), "ABC\n");
        if (ProcessHandle.current().pid() <= 0) throw new AssertionError("no number");
    }

    static void memoryAndItsCollection() {
        List<byte[]> kept = new ArrayList<>();
        for (int i = 0; i < 2000; i++) {
            byte[] one = new byte[100000];
            if (i % 100 == 0) kept.add(one);
        }
        System.gc();
        equal(kept.size(), 20);
        var memory = ManagementFactory.getMemoryMXBean();
        if (memory.getHeapMemoryUsage().getUsed() <= 0) throw new AssertionError("none used");
        ManagementFactory.getThreadMXBean().dumpAllThreads(true, true);
        if (Runtime.getRuntime().availableProcessors() < 1) throw new AssertionError("none");
        ByteBuffer.allocateDirect(10 << 20).put(5 << 20, (byte) 1);
    }

    static void compilesItself() throws Exception {
        Files.writeString(Path.of("Small.java"),
                "public class Small { public static void main(String[] a) { System.out.print(6 * 7); } }");
        var compiler = javax.tools.ToolProvider.getSystemJavaCompiler();
        equal(compiler.run(null, null, null, "-d", "classes", "Small.java"), 0);
        String java = ProcessHandle.current().info().command().get();
        Process p = new ProcessBuilder(java, "-Xshare:auto", "-cp", "classes", "Small").start();
        equal(new String(p.getInputStream().readAllBytes()), "42");
    }

    static void archivesAndRandomness() throws Exception {
        try (ZipOutputStream zip = new ZipOutputStream(new FileOutputStream("a.zip"))) {
            zip.putNextEntry(new ZipEntry("e"));
            zip.write(new byte[100000]);
        }
        try (ZipFile zip = new ZipFile("a.zip")) { equal(zip.getEntry("e").getSize(), 100000L); }
        new java.security.SecureRandom().nextBytes(new byte[16]);
        var maker = java.security.KeyPairGenerator.getInstance("EC");
        maker.initialize(256);
        if (maker.generateKeyPair() == null) throw new AssertionError("no keys");
    }

    public static void main(String[] words) {
        CHECKS.put("threads", Selftest::threads);
        CHECKS.put("files", Selftest::files);
        CHECKS.put("channels", Selftest::channels);
        CHECKS.put("changes_of_files_are_watched", Selftest::changesOfFilesAreWatched);
        CHECKS.put("sockets", Selftest::sockets);
        CHECKS.put("selectors", Selftest::selectors);
        CHECKS.put("web_server_on_loopback", Selftest::webServerOnLoopback);
        CHECKS.put("processes", Selftest::processes);
        CHECKS.put("memory_and_its_collection", Selftest::memoryAndItsCollection);
        CHECKS.put("compiles_itself", Selftest::compilesItself);
        CHECKS.put("archives_and_randomness", Selftest::archivesAndRandomness);
        int failed = 0;
        for (var one : CHECKS.entrySet()) {
            try {
                one.getValue().run();
                System.out.println("ok " + one.getKey());
            } catch (Throwable error) {
                failed++;
                System.out.println("not ok " + one.getKey() + " " + String.valueOf(error).replaceAll("\\s+", " "));
            }
        }
        System.out.println("1.." + CHECKS.size());
        System.exit(failed == 0 ? 0 : 1);
    }
}
