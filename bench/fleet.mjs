// Compares a one-page listing with a token in Redis on loopback with one that has it in a cached file.
// Usage: node bench/fleet.mjs [program]   (default: bin/imgctl.js, which needs a build)
// Needs redis-server (Debian: redis-server). Takes about a minute. The first run of a machine also stores a copy.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compare, nodeProgram } from './measure.mjs';

const RUNS = 31;
const IMAGES = 100;

const program = process.argv[2] ?? fileURLToPath(new URL('../bin/imgctl.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const children = [];

try {
  const port = await freePort();
  start('redis-server', ['--port', String(port), '--bind', '127.0.0.1', '--save', '']);
  const emulator = start(process.execPath, [
    program,
    'emulator',
    '--port',
    '0',
    '--images',
    `${IMAGES}`,
  ]);
  const [line] = await once(createInterface({ input: emulator.stdout }), 'line');
  const account = {
    IMGCTL_BASE_URL: JSON.parse(line).base_url,
    IMGCTL_USERNAME: 'demo',
    IMGCTL_PASSWORD: 'demo',
  };
  const store = { IMGCTL_TOKEN_STORE: `redis://127.0.0.1:${port}/0` };
  // Nothing can be written below a file, so this machine never has a copy of the token.
  const noCopy = { IMGCTL_CONFIG_DIR: join(program, 'none') };
  const cached = { ...account, IMGCTL_CONFIG_DIR: join(folder, 'cached') };
  const copied = { ...account, ...store, IMGCTL_CONFIG_DIR: join(folder, 'copied') };
  const redis = { ...account, ...store, ...noCopy };
  for (const env of [cached, copied]) run(env);
  const command = nodeProgram(program, 'images', 'list', '--json');
  const contestant = (env) => ({ command, env, images: IMAGES });
  const newFolder = () => ({ IMGCTL_CONFIG_DIR: mkdtempSync(join(folder, 'first-')) });
  const first = {
    ...contestant({}),
    get env() {
      return { ...account, ...store, ...newFolder() };
    },
  };
  const found = await compare(
    {
      cached: contestant(cached),
      first,
      redis: contestant(redis),
      copied: contestant(copied),
    },
    RUNS,
  );
  const report = (what, { cpu }, target) => {
    const milliseconds = `${(cpu * 1_000).toFixed(1)} ms`.padStart(10);
    const ratio = (cpu / found.cached.cpu).toFixed(2);
    process.stdout.write(`${what.padEnd(34)}${milliseconds}  ${ratio} x ${target}\n`);
  };
  process.stdout.write(`One page of ${IMAGES} images, median CPU of ${RUNS} runs\n`);
  report('token in a cached file', found.cached, '');
  report('token in Redis, first run', found.first, '');
  report('token in Redis, no folder for it', found.redis, '');
  report('token in Redis, copy in a file', found.copied, 'at most 1.25');
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true });
}

function start(command, args) {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  child.on('error', (error) => {
    throw error;
  });
  children.push(child);
  return child;
}

/** Lists once, which stores the token. */
function run(env) {
  const { status, stderr } = spawnSync(process.execPath, [program, 'images', 'list'], {
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}
