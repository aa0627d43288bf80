// Compares `images latest` and `images changes` with `images list`, and measures their memory and that of snapshots.
// Usage: node bench/choose.mjs [program]   (default: bin/imgctl.js, which needs a build)   Takes about two minutes.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compare, nodeProgram } from './measure.mjs';

const program = process.argv[2] ?? fileURLToPath(new URL('../bin/imgctl.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const snapshot = join(folder, 'catalogue.json');

const report = (what, figure, target) =>
  process.stdout.write(`${what.padEnd(44)}${figure.padStart(12)}   ${target}\n`);
const mebibytes = (value) => `${value.toFixed(1)} MiB`;

try {
  await withService(10_000, async (imgctl) => {
    imgctl.run('images', 'changes');
    const found = await compare(
      {
        list: imgctl.contestant('images', 'list', '-o', 'ndjson'),
        latest: imgctl.contestant('images', 'latest', '--each', '-o', 'ndjson'),
        changes: imgctl.contestant('images', 'changes', '-o', 'ndjson'),
      },
      7,
    );
    const ratio = (name) => (found[name].cpu / found.list.cpu).toFixed(2);
    report('10,000 images, CPU: latest --each / list', ratio('latest'), 'at most 1.3');
    report('  changes / list', ratio('changes'), 'at most 1.6');
  });
  await withService(100_000, async (imgctl) => {
    const first = ['images', 'changes', '-o', 'ndjson', '--peek', '--cursor', 'none'];
    imgctl.run('images', 'changes');
    imgctl.run('images', 'snapshot', '--file', snapshot);
    const found = await compare(
      {
        latest: imgctl.contestant('images', 'latest', '--each', '-o', 'ndjson'),
        first: imgctl.contestant(...first),
        changes: imgctl.contestant('images', 'changes', '-o', 'ndjson'),
        snapshot: imgctl.contestant('images', 'snapshot'),
        from: imgctl.contestant('images', 'list', '--from', snapshot, '-o', 'ndjson'),
        latestFrom: imgctl.contestant('images', 'latest', '--each', '--from', snapshot, '--json'),
      },
      3,
    );
    const target = 'at most 238.4 (250 MB)';
    report('100,000 images, peak memory: latest --each', mebibytes(found.latest.peak), target);
    report('  changes, first run', mebibytes(found.first.peak), target);
    report('  changes', mebibytes(found.changes.peak), target);
    report('  snapshot', mebibytes(found.snapshot.peak), target);
    report('  list --from', mebibytes(found.from.peak), target);
    report('  list --from, time', `${found.from.wall.toFixed(3)} s`, 'at most 1 s');
    report('  latest --each --from, time', `${found.latestFrom.wall.toFixed(3)} s`, 'at most 1 s');
  });
} finally {
  rmSync(folder, { recursive: true });
}

/** Starts an emulator with this number of images, and passes a way to run imgctl with it. */
async function withService(images, work) {
  const options = ['--port', '0', '--images', String(images)];
  const emulator = spawn(process.execPath, [program, 'emulator', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(createInterface({ input: emulator.stdout }), 'line');
    const address = { IMGCTL_BASE_URL: JSON.parse(line).base_url, IMGCTL_CONFIG_DIR: folder };
    const login = { ...address, IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
    const env = { ...address, IMGCTL_TOKEN: run(['token'], login).trim() };
    await work({
      run: (...args) => run(args, env),
      contestant: (...args) => ({
        command: nodeProgram(program, ...args),
        env,
        images: run(args, env).split('"name":').length - 1,
      }),
    });
  } finally {
    emulator.kill();
  }
}

function run(args, env) {
  const options = { env: { ...process.env, ...env }, encoding: 'utf8', maxBuffer: 2 ** 30 };
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, ...args], options);
  if (status !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return stdout;
}
