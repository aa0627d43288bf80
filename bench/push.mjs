// Compares `imgctl push` with curl -T and the aws command line, to the same servers on this machine.
// Usage: node bench/push.mjs [program...]   (default: bin/imgctl.js)
// Needs Linux, nginx with dav-ext, curl and 30 GB in the temporary folder; aws and moto_server if they exist.

import { spawn, spawnSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { median, nodeProgram } from './measure.mjs';

const MIB = 2 ** 20;
const FILE_MIB = 1024;
const SPARSE = 10 * 1024 * MIB;
const RUNS = 5;
const GIGABIT = 1e9 / 8;
const DAV_MODULE = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so';

const programs = process.argv.length > 2 ? process.argv.slice(2) : ['bin/imgctl.js'];
const folder = fs.mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const files = join(folder, 'nginx/files');
const children = [];
const exists = (name) => spawnSync('which', [name]).status === 0;

/** Writes an OVF with one file of this size and a manifest, and returns both paths. */
function makePackage(name, size, fill = () => {}) {
  const data = join(folder, `${name}-data.iso`);
  const descriptor = join(folder, `${name}.ovf`);
  fs.writeFileSync(data, '');
  fs.truncateSync(data, size);
  fill(data);
  const namespace = 'http://schemas.dmtf.org/ovf/envelope/1';
  fs.writeFileSync(
    descriptor,
    `<Envelope xmlns="${namespace}" xmlns:ovf="${namespace}"><References><File ovf:id="f" ovf:href="${name}-data.iso" ovf:size="${size}"/></References><VirtualSystem ovf:id="v"><Info/></VirtualSystem></Envelope>`,
  );
  const entries = [descriptor, data].map((file) => {
    const { stdout } = spawnSync('sha256sum', [file], { encoding: 'utf8' });
    return `SHA256(${file.slice(folder.length + 1)})= ${stdout.slice(0, 64)}\n`;
  });
  fs.writeFileSync(join(folder, `${name}.mf`), entries.join(''));
  return { descriptor, data };
}

function fillWithNoise(file) {
  const block = randomBytes(MIB);
  const handle = fs.openSync(file, 'r+');
  for (let index = 0; index < FILE_MIB; index += 1) {
    createHash('sha256').update(`${index}`).digest().copy(block);
    fs.writeSync(handle, block, 0, MIB, index * MIB);
  }
  fs.closeSync(handle);
}

async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

async function freePort() {
  const server = net.createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Starts a server and waits until its port answers. */
async function start(command, args, port) {
  children.push(spawn(command, args, { stdio: 'ignore' }));
  for (let tries = 0; tries < 200; tries += 1) {
    if (await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined)) return port;
    await wait(50);
  }
  throw new Error(`${command} does not answer`);
}

async function startNginx() {
  const port = await freePort();
  const own = join(folder, 'nginx');
  fs.mkdirSync(files, { recursive: true });
  for (const each of [folder, own, files]) fs.chmodSync(each, 0o777);
  const user = process.getuid() === 0 ? 'user root;' : '';
  fs.writeFileSync(
    join(own, 'nginx.conf'),
    `load_module ${DAV_MODULE}; ${user} pid ${own}/pid; error_log ${own}/log; daemon off; events {}
http { access_log off; client_body_temp_path ${own}/body; server { listen 127.0.0.1:${port}; client_max_body_size 0;
location / { root ${files}; dav_methods PUT DELETE MOVE; dav_ext_methods PROPFIND OPTIONS; } } }`,
  );
  return start('nginx', ['-c', join(own, 'nginx.conf')], port);
}

/** Starts a proxy that passes on what clients send at this rate. */
async function startLink(target, bytesPerSecond) {
  let free = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1');
    upstream.pipe(client);
    for (const socket of [client, upstream]) socket.on('error', () => client.destroy());
    client.on('data', async (chunk) => {
      client.pause();
      free = Math.max(free, Date.now()) + (1000 * chunk.length) / bytesPerSecond;
      upstream.write(chunk);
      if (free - Date.now() > 5) await wait(free - Date.now());
      client.resume();
    });
    client.on('end', () => upstream.end());
  });
  server.unref();
  return listen(server);
}

/** Returns the contestants that push the file, by the paths of their programs. */
function pushes(file, settings) {
  return Object.fromEntries(programs.map((program) => [program, push(program, file, settings)]));
}

/** Returns the command of a push, with new settings for each run. */
function push(program, file, settings) {
  return {
    command: nodeProgram(program, 'push', file, '--no-sync', '-q', '--timeout', '5m'),
    env() {
      const directory = fs.mkdtempSync(join(folder, 'config-'));
      const profiles = { default: settings };
      fs.writeFileSync(join(directory, 'config.json'), JSON.stringify({ profiles }));
      return { IMGCTL_CONFIG_DIR: directory, IMGCTL_UPLOAD_SECRET: 'secret' };
    },
  };
}

/** Runs a program and returns its seconds, and of a Node program its seconds of CPU and the MiB it needed at most. */
async function measure({ command: [file, ...args], env = () => ({}) }) {
  const started = process.hrtime.bigint();
  const child = spawn(file, args, { env: { ...process.env, ...env() } });
  let stderr = '';
  child.stdout.resume();
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`${file} ended with ${code}: ${stderr.slice(-500)}`);
  const seconds = Number(process.hrtime.bigint() - started) / 1e9;
  const [, usage] = /\n(\{"cpu".*)$/.exec(stderr) ?? [];
  return { seconds, ...(usage === undefined ? {} : JSON.parse(usage)) };
}

/** Measures the contestants in turn, each into an empty storage; the first round is a warm-up. */
async function compare(title, contestants, clean) {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let run = 0; run <= RUNS; run += 1) {
    for (const [name, contestant] of Object.entries(contestants)) {
      clean();
      const result = await measure(contestant);
      if (run > 0) results[name].push(result);
    }
  }
  process.stdout.write(`${title}, ${FILE_MIB} MiB\n`);
  for (const [name, all] of Object.entries(results)) {
    const middle = (key) => median(all.map((result) => result[key])).toFixed(2);
    const cpu = all[0].cpu === undefined ? '' : `, ${middle('cpu')} s of CPU`;
    process.stdout.write(`  ${name.padEnd(24)} ${middle('seconds')} s${cpu}, median of ${RUNS}\n`);
  }
}

async function compareWebDav(title, port, { descriptor, data }) {
  const url = `http://127.0.0.1:${port}/`;
  const contestants = {
    curl: { command: ['curl', '-sS', '-T', data, url] },
    ...pushes(descriptor, { 'upload-url': `dav+${url}` }),
  };
  await compare(title, contestants, removeFiles);
}

async function compareS3({ descriptor, data }) {
  const port = await freePort();
  await start('moto_server', ['-p', `${port}`], port);
  const url = `http://127.0.0.1:${port}`;
  await fetch(`${url}/bucket`, { method: 'PUT' });
  const env = () => ({
    AWS_ACCESS_KEY_ID: 'key',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_DEFAULT_REGION: 'us-east-1',
  });
  const aws = (...args) => ['aws', '--endpoint-url', url, 's3', ...args];
  const settings = { 'upload-url': `s3+${url}/bucket`, 'upload-access-key': 'key' };
  const contestants = {
    aws: { command: aws('cp', '--no-progress', data, 's3://bucket/data.iso'), env },
    ...pushes(descriptor, settings),
  };
  const [command, ...args] = aws('rm', '--recursive', 's3://bucket');
  await compare('S3 (moto), loopback', contestants, () =>
    spawnSync(command, args, { env: { ...process.env, ...env() } }),
  );
}

function removeFiles() {
  for (const name of fs.readdirSync(files)) fs.rmSync(join(files, name));
}

try {
  const nginx = await startNginx();
  const made = makePackage('bench', FILE_MIB * MIB, fillWithNoise);
  await compareWebDav('WebDAV (nginx), loopback', nginx, made);
  await compareWebDav('WebDAV (nginx), 1 Gbit/s', await startLink(nginx, GIGABIT), made);
  if (exists('aws') && exists('moto_server')) await compareS3(made);
  removeFiles();
  const sparse = makePackage('sparse', SPARSE);
  const settings = { 'upload-url': `dav+http://127.0.0.1:${nginx}/` };
  for (const [program, contestant] of Object.entries(pushes(sparse.descriptor, settings))) {
    removeFiles();
    const { peak } = await measure(contestant);
    process.stdout.write(`10 GiB sparse file, WebDAV: ${peak.toFixed(0)} MiB, ${program}\n`);
  }
} finally {
  for (const child of children) child.kill();
  fs.rmSync(folder, { recursive: true, force: true });
}
