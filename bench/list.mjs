// Compares `images list` with a curl and jq loop and with a bare Node client, and `images latest` with `images list`.
// Usage: node bench/list.mjs [program]   (default: bin/imgctl.js, which needs a build)
// Needs bash, curl and jq. Takes about three minutes.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compare, nodeProgram } from './measure.mjs';

const program = process.argv[2] ?? fileURLToPath(new URL('../bin/imgctl.js', import.meta.url));
const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const rows = [];
const report = (what, figure, target = '') => rows.push([what, figure, target]);
const seconds = (value) => `${value.toFixed(3)} s`;
const mebibytes = (value) => `${value.toFixed(1)} MiB`;

try {
  await withService({ images: 10_000, latency: 50 }, async ({ imgctl, curl, tight }) => {
    const found = await compare({ imgctl: imgctl('json'), curl, tight }, 3);
    report('10,000 images, 50 ms per request: imgctl', seconds(found.imgctl.wall));
    report('  curl and jq loop', seconds(found.curl.wall));
    report('  imgctl / loop', ratio(found.imgctl.wall, found.curl.wall), 'at most 0.15');
    report('  imgctl / loop with one jq per page', ratio(found.imgctl.wall, found.tight.wall));
  });
  await withService({ images: 10_000, latency: 0 }, async ({ imgctl, latest, bare }) => {
    const contestants = {
      json: imgctl('json'),
      table: imgctl('table'),
      ndjson: imgctl('ndjson'),
      bare,
      each: latest('--each'),
      number: latest('ova', '8', '--each'),
    };
    const found = await compare(contestants, 7);
    report('10,000 images, CPU of a bare Node client', seconds(found.bare.cpu));
    report('  json / bare', ratio(found.json.cpu, found.bare.cpu), 'at most 2.5');
    report('  table in a pipe / bare', ratio(found.table.cpu, found.bare.cpu), 'at most 2.5');
    report('  latest --each / ndjson', ratio(found.each.cpu, found.ndjson.cpu), 'at most 1.4');
    report('  latest ova 8 / ndjson', ratio(found.number.cpu, found.ndjson.cpu), 'at most 1.4');
  });
  await withService({ images: 1_000, latency: 0 }, (small) =>
    withService({ images: 10_000, latency: 0 }, (medium) =>
      withService({ images: 100_000, latency: 0 }, async (large) => {
        const found = await compare(
          {
            small: small.imgctl('ndjson'),
            medium: medium.imgctl('ndjson'),
            large: large.imgctl('ndjson'),
            latest: large.latest('--each'),
          },
          5,
        );
        const more = found.large.peak - found.small.peak;
        report('ndjson, peak memory of 1,000 images', mebibytes(found.small.peak));
        report('  of 100,000', mebibytes(found.large.peak));
        report('  more', mebibytes(more), 'at most 33.4 (35 MB)');
        report(
          '  latest --each of 100,000',
          mebibytes(found.latest.peak),
          'at most 238.4 (250 MB)',
        );
        report('  CPU of 10,000', seconds(found.medium.cpu));
        report('  CPU of 100,000', seconds(found.large.cpu));
        report('  100,000 / 10,000', ratio(found.large.cpu, found.medium.cpu), 'at most 10.5');
      }),
    ),
  );
  for (const [what, figure, target] of rows) {
    const limit = target === '' ? '' : `   ${target}`;
    process.stdout.write(`${what.padEnd(42)}${figure.padStart(12)}${limit}\n`);
  }
} finally {
  rmSync(folder, { recursive: true });
}

/** Starts an emulator with this number of images, and passes the programs to compare. */
async function withService({ images, latency }, work) {
  const options = ['--port', '0', '--images', String(images)];
  if (latency > 0) options.push('--latency', `${latency}ms`);
  const emulator = spawn(process.execPath, [program, 'emulator', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const ended = once(emulator, 'exit').then(() => {
      throw new Error('the emulator ended');
    });
    const ready = once(createInterface({ input: emulator.stdout }), 'line');
    const [line] = await Promise.race([ready, ended]);
    const address = { IMGCTL_BASE_URL: JSON.parse(line).base_url, IMGCTL_CONFIG_DIR: folder };
    const env = { ...address, IMGCTL_TOKEN: tokenOf(address) };
    await work({
      imgctl: (format) => ({
        command: nodeProgram(program, 'images', 'list', '-o', format),
        env,
        images,
        // A table has a line per image, and its header.
        ...(format === 'table' ? { mark: '\n', images: images + 1 } : {}),
      }),
      latest: (...words) => ({
        command: nodeProgram(program, 'images', 'latest', ...words, '-o', 'ndjson'),
        env,
      }),
      curl: { command: ['bash', fileOf('curl-loop.sh')], env, images },
      tight: { command: ['bash', fileOf('curl-loop.sh'), 'tight'], env, images },
      bare: { command: nodeProgram(fileOf('bare-client.cjs')), env, images },
    });
  } finally {
    emulator.kill();
  }
}

function tokenOf(address) {
  const env = { ...process.env, ...address, IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
  const { stdout, stderr } = spawnSync(process.execPath, [program, 'token'], { env });
  if (stdout.length === 0) throw new Error(`no token: ${stderr}`);
  return stdout.toString().trim();
}

function ratio(value, to) {
  return (value / to).toFixed(2);
}
