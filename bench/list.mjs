// Compares `images list` and `images latest` with a bare Node client, and their memory for long lists.
// Usage: node bench/list.mjs   (needs a build; takes about two minutes)

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, nodeProgram } from './measure.mjs';

const program = fileURLToPath(import.meta.resolve('../bin/imgctl.js'));
const bareClient = fileURLToPath(import.meta.resolve('./bare-client.cjs'));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const emulators = [];

try {
  await reportTimes(await startEmulator(10_000));
  await reportMemory(await startEmulator(1_000), await startEmulator(100_000));
} finally {
  for (const emulator of emulators) emulator.kill();
  rmSync(folder, { recursive: true });
}

async function reportTimes({ imgctl, env, images }) {
  const contestants = {
    bare: { command: nodeProgram(bareClient), env, images },
    json: { ...imgctl('images', 'list', '-o', 'json'), images },
    // A table has a line per image, and its header.
    table: { ...imgctl('images', 'list'), mark: '\n', images: images + 1 },
    ndjson: { ...imgctl('images', 'list', '-o', 'ndjson'), images },
    latest: imgctl('images', 'latest', '--each', '-o', 'ndjson'),
  };
  const found = await compare(contestants, 7);
  for (const [name, { cpu }] of Object.entries(found)) {
    report(
      `${images} images, CPU of ${name}`,
      `${cpu.toFixed(3)} s`,
      (cpu / found.bare.cpu).toFixed(2),
    );
  }
}

async function reportMemory(small, large) {
  const list = ({ imgctl, images }) => ({ ...imgctl('images', 'list', '-o', 'ndjson'), images });
  const latest = large.imgctl('images', 'latest', '--each', '-o', 'ndjson');
  const found = await compare({ small: list(small), large: list(large), latest }, 5);
  const mebibytes = (value) => `${value.toFixed(1)} MiB`;
  report('peak memory, ndjson of 100,000 images', mebibytes(found.large.peak));
  report('  more than of 1,000 images', mebibytes(found.large.peak - found.small.peak));
  report('  latest --each of 100,000', mebibytes(found.latest.peak));
}

function report(what, figure, ratio = '') {
  process.stdout.write(`${what.padEnd(42)}${figure.padStart(12)}   ${ratio}\n`);
}

/** Starts an emulator, and returns commands that use it. */
async function startEmulator(images) {
  const options = ['emulator', '--port', '0', '--images', String(images)];
  const emulator = spawn(process.execPath, [program, ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  emulators.push(emulator);
  const [line] = await once(emulator.stdout, 'data');
  const address = { IMGCTL_BASE_URL: JSON.parse(String(line)).base_url, IMGCTL_CONFIG_DIR: folder };
  const login = { ...process.env, ...address, IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
  const { stdout } = spawnSync(process.execPath, [program, 'token'], { env: login });
  const env = { ...address, IMGCTL_TOKEN: String(stdout).trim() };
  return { images, env, imgctl: (...words) => ({ command: nodeProgram(program, ...words), env }) };
}
