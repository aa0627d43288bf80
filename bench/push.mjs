// Compares `imgctl push` of 1 GiB with curl -T to nginx, and with the aws command line to moto, on this machine.
// Usage: node bench/push.mjs   (needs a build, Linux, nginx with dav-ext, curl and 5 GB in the temporary folder;
// aws and moto_server if they exist)

import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { compare, makePackage, nodeProgram } from './measure.mjs';

const RUNS = 5;
/** moto takes long to complete an upload. */
const OPTIONS = ['--no-sync', '-q', '--timeout', '5m'];
const PORT = 18_000 + (process.pid % 1_000);
const program = fileURLToPath(import.meta.resolve('../bin/imgctl.js'));
const folder = fs.mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const files = join(folder, 'files');
const servers = [];

try {
  makePackage(folder, 1024);
  await compareWebDav();
  if (['aws', 'moto_server'].every((name) => spawnSync('which', [name]).status === 0)) {
    await compareS3();
  }
} finally {
  for (const server of servers) server.kill();
  fs.rmSync(folder, { recursive: true, force: true });
}

async function compareWebDav() {
  fs.mkdirSync(files);
  const url = `http://127.0.0.1:${PORT}/`;
  const config = join(folder, 'nginx.conf');
  fs.writeFileSync(
    config,
    `load_module /usr/lib/nginx/modules/ngx_http_dav_ext_module.so; pid ${folder}/pid;
${process.getuid() === 0 ? 'user root;' : ''} error_log ${folder}/log; daemon off; events {}
http { access_log off; client_body_temp_path ${folder}/body; server { listen 127.0.0.1:${PORT};
client_max_body_size 0; location / { root ${files}; dav_methods PUT DELETE MOVE;
dav_ext_methods PROPFIND OPTIONS; } } }`,
  );
  await startServer('nginx', ['-c', config], url);
  const prepare = () => {
    for (const name of fs.readdirSync(files)) fs.rmSync(join(files, name));
  };
  await report('WebDAV (nginx)', {
    curl: { command: ['curl', '-sS', '-T', join(folder, 'bench.iso'), url], prepare },
    imgctl: push({ 'upload-url': `dav+${url}` }, prepare),
  });
}

async function compareS3() {
  const url = `http://127.0.0.1:${PORT + 1}`;
  await startServer('moto_server', ['-p', `${PORT + 1}`], url);
  await fetch(`${url}/bucket`, { method: 'PUT' });
  const keys = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
  const env = { ...keys, AWS_DEFAULT_REGION: 'us-east-1' };
  const [aws, ...args] = ['aws', '--endpoint-url', url, 's3'];
  const prepare = () => {
    const options = { env: { ...process.env, ...env } };
    spawnSync(aws, [...args, 'rm', '--recursive', 's3://bucket'], options);
  };
  const copy = [aws, ...args, 'cp', '--no-progress', join(folder, 'bench.iso'), 's3://bucket/'];
  await report('S3 (moto)', {
    aws: { command: copy, env, prepare },
    imgctl: push({ 'upload-url': `s3+${url}/bucket`, 'upload-access-key': 'key' }, prepare),
  });
}

/** Starts a server and waits until it answers. */
async function startServer(command, args, url) {
  servers.push(spawn(command, args, { stdio: 'ignore' }));
  for (let tries = 0; tries < 200; tries += 1) {
    if (await fetch(url).catch(() => undefined)) return;
    await wait(50);
  }
  throw new Error(`${command} does not answer`);
}

/** Returns a push with new settings for each run. */
function push(settings, prepare) {
  const IMGCTL_CONFIG_DIR = join(folder, 'config');
  return {
    command: nodeProgram(program, 'push', join(folder, 'bench.ovf'), ...OPTIONS),
    env: { IMGCTL_CONFIG_DIR, IMGCTL_UPLOAD_SECRET: 'secret' },
    prepare() {
      prepare();
      fs.rmSync(IMGCTL_CONFIG_DIR, { recursive: true, force: true });
      fs.mkdirSync(IMGCTL_CONFIG_DIR);
      const config = JSON.stringify({ profiles: { default: settings } });
      fs.writeFileSync(join(IMGCTL_CONFIG_DIR, 'config.json'), config);
    },
  };
}

async function report(title, contestants) {
  process.stdout.write(`${title}, 1 GiB\n`);
  for (const [name, { wall, peak }] of Object.entries(await compare(contestants, RUNS))) {
    const memory = peak === undefined ? '' : `, ${peak.toFixed(0)} MiB of memory`;
    process.stdout.write(`  ${name.padEnd(8)} ${wall.toFixed(2)} s, median of ${RUNS}${memory}\n`);
  }
}
