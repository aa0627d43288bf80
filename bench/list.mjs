// Compares `imgctl images list` with a curl and jq loop, with a bare Node client and with hcloud, in turn.
// Usage: node bench/list.mjs [program]   (default: bin/imgctl.js, which needs a build)
// Needs bash, curl and jq; skips hcloud if it is missing. Takes about five minutes.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startHcloudService } from './hcloud-service.mjs';
import { compare, nodeProgram } from './measure.mjs';

const program = process.argv[2] ?? fileURLToPath(new URL('../bin/imgctl.js', import.meta.url));
const fileOf = (name) => fileURLToPath(new URL(name, import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const hasHcloud = spawnSync('hcloud', ['version']).error === undefined;
const hcloudSkipped = hasHcloud
  ? undefined
  : 'skipped: hcloud is not installed (Debian: hcloud-cli)';

const rows = [];
const report = (what, figure, target = '') => rows.push([what, figure, target]);
const seconds = (value) => `${value.toFixed(3)} s`;

try {
  await withServices({ images: 10_000, latency: 50 }, async ({ imgctl, curl, tight, hcloud }) => {
    const found = await compare({ imgctl: imgctl('json'), curl, tight, ...hcloud }, 3);
    report('10,000 images, 50 ms per request: imgctl', seconds(found.imgctl.wall));
    report('  curl and jq loop', seconds(found.curl.wall));
    report('  imgctl / loop', ratio(found.imgctl.wall, found.curl.wall), 'at most 0.15');
    report('  imgctl / loop with one jq per page', ratio(found.imgctl.wall, found.tight.wall));
    report('  hcloud', found.hcloud ? seconds(found.hcloud.wall) : hcloudSkipped);
  });
  await withServices(
    { images: 10_000, latency: 0 },
    async ({ imgctl, curl, tight, bare, hcloud }) => {
      const programs = { imgctl: imgctl('json'), table: imgctl('table'), bare };
      const found = await compare({ ...programs, curl, tight, ...hcloud }, 5);
      report('10,000 images, no latency: imgctl', seconds(found.imgctl.wall));
      report('  curl and jq loop', seconds(found.curl.wall));
      report('  imgctl / loop', ratio(found.imgctl.wall, found.curl.wall), 'at most 1');
      report('  imgctl / loop with one jq per page', ratio(found.imgctl.wall, found.tight.wall));
      report('  hcloud', found.hcloud ? seconds(found.hcloud.wall) : hcloudSkipped);
      report('  CPU of imgctl', seconds(found.imgctl.cpu));
      report('  CPU of a bare Node client', seconds(found.bare.cpu));
      report('  imgctl / bare', ratio(found.imgctl.cpu, found.bare.cpu), 'at most 2.5');
      report('  CPU of a table in a pipe', seconds(found.table.cpu));
      report('  table / bare', ratio(found.table.cpu, found.bare.cpu), 'at most 2.5');
    },
  );
  await withServices({ images: 1_000, latency: 0 }, (small) =>
    withServices({ images: 10_000, latency: 0 }, (medium) =>
      withServices({ images: 100_000, latency: 0 }, async (large) => {
        const found = await compare(
          {
            small: small.imgctl('ndjson'),
            medium: medium.imgctl('ndjson'),
            large: large.imgctl('ndjson'),
          },
          5,
        );
        const more = found.large.peak - found.small.peak;
        report('ndjson, peak memory of 1,000 images', `${found.small.peak.toFixed(1)} MiB`);
        report('  of 100,000', `${found.large.peak.toFixed(1)} MiB`);
        report('  more', `${more.toFixed(1)} MiB`, 'at most 23.8 (25 MB)');
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

/** Starts an emulator and a server for hcloud with this number of images, and passes the programs to compare. */
async function withServices({ images, latency }, work) {
  const options = ['--port', '0', '--images', String(images)];
  if (latency > 0) options.push('--latency', `${latency}ms`);
  const emulator = spawn(process.execPath, [program, 'emulator', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const hcloudService = await startHcloudService(images, latency);
  try {
    const ended = once(emulator, 'exit').then(() => {
      throw new Error('the emulator ended');
    });
    const ready = once(createInterface({ input: emulator.stdout }), 'line');
    const [line] = await Promise.race([ready, ended]);
    const address = { IMGCTL_BASE_URL: JSON.parse(line).base_url, IMGCTL_CONFIG_DIR: folder };
    const env = { ...address, IMGCTL_TOKEN: tokenOf(address) };
    const hcloud = {
      command: ['hcloud', 'image', 'list', '-o', 'json'],
      env: { HCLOUD_ENDPOINT: hcloudService.endpoint, HCLOUD_TOKEN: '0'.repeat(64) },
      images,
    };
    await work({
      imgctl: (format) => ({
        command: nodeProgram(program, 'images', 'list', '-o', format),
        env,
        images,
        // A table has a line per image, and its header.
        ...(format === 'table' ? { mark: '\n', images: images + 1 } : {}),
      }),
      curl: { command: ['bash', fileOf('curl-loop.sh')], env, images },
      tight: { command: ['bash', fileOf('curl-loop.sh'), 'tight'], env, images },
      bare: { command: nodeProgram(fileOf('bare-client.cjs')), env, images },
      hcloud: hasHcloud ? { hcloud } : {},
    });
  } finally {
    hcloudService.close();
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
