// SPDX-License-Identifier: Apache-2.0
// Node: files, children, workers, servers on loopback. A line for each check,
// and 1..N at the end.
'use strict';
const assert = require('assert');
const child = require('child_process');
const cluster = require('cluster');
const crypto = require('crypto');
const dgram = require('dgram');
const events = require('events');
const fs = require('fs');
const http = require('http');
const http2 = require('http2');
const net = require('net');
const os = require('os');
const path = require('path');
const stream = require('stream/promises');
const workers = require('worker_threads');
const zlib = require('zlib');
const util = require('util');

const checks = {
  async files() {
    fs.mkdirSync('d/e/f', {recursive: true});
    fs.writeFileSync('d/a', 'x'.repeat(100000));
    fs.copyFileSync('d/a', 'd/b');
    fs.copyFileSync('d/a', 'd/c', fs.constants.COPYFILE_FICLONE);
    fs.linkSync('d/a', 'd/hard');
    fs.symlinkSync('a', 'd/soft');
    fs.renameSync('d/b', 'd/e/b');
    fs.appendFileSync('d/a', 'more');
    assert.equal(fs.statSync('d/hard').size, 100004);
    assert.equal(fs.readlinkSync('d/soft'), 'a');
    fs.chmodSync('d/a', 0o600);
    fs.utimesSync('d/a', 1, 2);
    assert.equal(fs.statSync('d/a', {bigint: true}).mtimeMs, 2000n);
    assert.deepEqual(fs.readdirSync('d').sort(), ['a', 'c', 'e', 'hard', 'soft']);
    fs.cpSync('d', 'copy', {recursive: true});
    fs.accessSync('copy/e/b');
    const fd = fs.openSync('d/a', 'r+');
    assert.equal(fs.readSync(fd, Buffer.alloc(10), 0, 10, 5), 10);
    fs.ftruncateSync(fd, 20);
    fs.fsyncSync(fd);
    fs.closeSync(fd);
    assert.ok(fs.statfsSync('.').bsize > 0);
    fs.rmSync('d', {recursive: true});
    const temporary = fs.mkdtempSync('./t-');
    assert.ok(fs.realpathSync(temporary).includes('t-'));
  },

  async files_by_promises() {
    await Promise.all([...Array(200).keys()].map(async (n) => {
      await fs.promises.writeFile(`p${n}`, String(n));
      assert.equal(await fs.promises.readFile(`p${n}`, 'utf8'), String(n));
      await fs.promises.unlink(`p${n}`);
    }));
    const handle = await fs.promises.open('handle', 'w+');
    await handle.writev([Buffer.from('one'), Buffer.from('two')]);
    await handle.datasync();
    assert.equal((await handle.stat()).size, 6);
    await handle.close();
  },

  async streams() {
    fs.writeFileSync('big', crypto.randomBytes(3000000));
    await stream.pipeline(fs.createReadStream('big'), zlib.createGzip(),
        fs.createWriteStream('big.gz'));
    await stream.pipeline(fs.createReadStream('big.gz'), zlib.createGunzip(),
        fs.createWriteStream('again'));
    assert.ok(fs.readFileSync('big').equals(fs.readFileSync('again')));
    assert.ok(zlib.brotliDecompressSync(zlib.brotliCompressSync('b')).equals(Buffer.from('b')));
  },

  async changes_of_files_are_watched() {
    fs.mkdirSync('watched');
    let watcher;
    for (let tries = 0; !watcher; tries++) {
      try {
        watcher = fs.watch('watched');
      } catch (error) { // a user has few, and others may hold them for a moment
        if (error.code !== 'EMFILE' || tries === 100) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
    const changed = events.once(watcher, 'change');
    fs.writeFileSync('watched/new', '');
    assert.equal((await changed)[1], 'new');
    watcher.close();
  },

  async children() {
    assert.equal(child.execSync('echo $((6*7)) | cat', {encoding: 'utf8'}), '42\n');
    assert.equal(child.spawnSync('cat', {input: 'in'}).stdout.toString(), 'in');
    assert.equal(child.spawnSync('sh', ['-c', 'exit 7']).status, 7);
    assert.equal(child.spawnSync('sleep', ['30'], {timeout: 50}).signal, 'SIGTERM');
    assert.equal(child.spawnSync('/no/such').error.code, 'ENOENT');
    const sleeper = child.spawn('sleep', ['30'], {detached: true, stdio: 'ignore'});
    process.kill(-sleeper.pid, 'SIGKILL');
    assert.deepEqual(await events.once(sleeper, 'exit'), [null, 'SIGKILL']);
    const {stdout} = await util.promisify(child.execFile)('node', ['-p', '1+1']);
    assert.equal(stdout, '2\n');
  },

  async children_with_messages() {
    const one = child.fork(__filename, ['child'], {serialization: 'advanced'});
    one.send({value: [1, 2, 3]});
    assert.deepEqual((await events.once(one, 'message'))[0], [3, 2, 1]);
    one.disconnect();
    assert.equal((await events.once(one, 'exit'))[0], 0);
  },

  async workers_and_shared_memory() {
    const shared = new SharedArrayBuffer(8);
    const all = [...Array(4)].map(() => new workers.Worker(__filename, {workerData: shared}));
    for (const [code] of await Promise.all(all.map((w) => events.once(w, 'exit')))) {
      assert.equal(code, 0);
    }
    assert.equal(new Int32Array(shared)[0], 4000);
  },

  async cluster_of_processes() {
    cluster.setupPrimary({exec: __filename, args: ['cluster']});
    const one = cluster.fork();
    const [, address] = await events.once(cluster, 'listening');
    assert.equal(await get({port: address.port, host: '127.0.0.1'}), 'from a worker');
    one.kill();
    await events.once(cluster, 'exit');
  },

  async web_server_on_loopback() {
    const server = http.createServer((request, response) => request.pipe(response));
    server.listen(0, '127.0.0.1');
    await events.once(server, 'listening');
    const agent = new http.Agent({keepAlive: true});
    const {port} = server.address();
    for (const answer of await Promise.all([...Array(20).keys()].map((n) =>
      get({port, host: '127.0.0.1', method: 'POST', agent}, `body ${n}`)))) {
      assert.match(answer, /^body \d+$/);
    }
    assert.equal(await (await fetch(`http://127.0.0.1:${port}`, {
      method: 'POST', body: 'fetched'})).text(), 'fetched');
    agent.destroy();
    server.close();
  },

  async web_server_of_the_second_version() {
    const server = http2.createServer((request, response) => response.end('two'));
    server.listen(0, '127.0.0.1');
    await events.once(server, 'listening');
    const client = http2.connect(`http://127.0.0.1:${server.address().port}`);
    const request = client.request({':path': '/'});
    let text = '';
    for await (const part of request) text += part;
    assert.equal(text, 'two');
    client.close();
    server.close();
  },

  async sockets() {
    for (const where of [{path: 'socket'}, {port: 0, host: '127.0.0.1'}]) {
      const server = net.createServer((socket) => socket.pipe(socket));
      server.listen(where);
      await events.once(server, 'listening');
      const address = server.address();
      const client = net.connect(address.port ? {port: address.port, host: '127.0.0.1'} : where);
      client.end('through');
      let text = '';
      for await (const part of client) text += part;
      assert.equal(text, 'through');
      server.close();
    }
    const one = dgram.createSocket('udp4');
    one.bind(0, '127.0.0.1');
    await events.once(one, 'listening');
    const message = events.once(one, 'message');
    one.send('datagram', one.address().port, '127.0.0.1');
    assert.equal((await message)[0].toString(), 'datagram');
    one.close();
  },

  async cryptography() {
    const pair = await util.promisify(crypto.generateKeyPair)('rsa', {modulusLength: 2048});
    const signature = crypto.sign('sha256', Buffer.from('text'), pair.privateKey);
    assert.ok(crypto.verify('sha256', Buffer.from('text'), pair.publicKey, signature));
    assert.equal((await util.promisify(crypto.scrypt)('word', 'salt', 32)).length, 32);
    assert.notEqual(crypto.randomUUID(), crypto.randomUUID());
  },

  async system() {
    assert.ok(os.cpus().length > 0 && os.totalmem() > 0 && os.availableParallelism() > 0);
    assert.equal(os.platform(), 'linux');
    const lower = Math.min(os.getPriority() + 1, 19);
    os.setPriority(lower);
    assert.equal(os.getPriority(), lower);
    assert.ok(Array.isArray(Object.keys(os.networkInterfaces())));
    assert.ok(process.memoryUsage().rss > 0 && process.resourceUsage().maxRSS > 0);
    assert.ok(process.hrtime.bigint() > 0n && process.umask() >= 0);
    assert.ok(path.isAbsolute(process.cwd()));
    process.title = 'renamed';
  },

  async signals() {
    const seen = events.once(process, 'SIGUSR2');
    const waits = setInterval(() => {}, 1000); // a handler alone keeps nothing running
    process.kill(process.pid, 'SIGUSR2');
    await seen;
    clearInterval(waits);
  },

  async web_assembly_and_compiling() {
    const bytes = Uint8Array.from([0, 97, 115, 109, 1, 0, 0, 0, 1, 7, 1, 96, 2, 127, 127, 1,
      127, 3, 2, 1, 0, 7, 7, 1, 3, 97, 100, 100, 0, 0, 10, 9, 1, 7, 0, 32, 0, 32, 1, 106, 11]);
    const {instance} = await WebAssembly.instantiate(bytes);
    let sum = 0;
    for (let n = 0; n < 300000; n++) sum = instance.exports.add(sum, 1);
    assert.equal(sum, 300000);
  },
};

function get(options, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(options, (response) => {
      let text = '';
      response.on('data', (part) => text += part);
      response.on('end', () => resolve(text));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function main() {
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    try {
      await check();
      console.log(`ok ${name}`);
    } catch (error) {
      failed++;
      console.log(`not ok ${name} ${String(error).replace(/\s+/g, ' ')}`);
    }
  }
  console.log(`1..${Object.keys(checks).length}`);
  process.exit(failed ? 1 : 0);
}

if (!workers.isMainThread) {
  const numbers = new Int32Array(workers.workerData);
  for (let n = 0; n < 1000; n++) Atomics.add(numbers, 0, 1);
} else if (process.argv[2] === 'child') {
  process.once('message', (m) => process.send(m.value.reverse()));
} else if (process.argv[2] === 'cluster') {
  http.createServer((_, response) => response.end('from a worker')).listen(0, '127.0.0.1');
} else {
  main();
}
