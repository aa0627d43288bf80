// The metrics file of the built program while several processes replace it.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runBuilt, scriptedService } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import { parseMetrics, valuesOf } from '../support/metrics.ts';

it('--metrics-file > can be read at any moment while six syncs replace the file', async () => {
  const { env } = await scriptedService({
    'PATCH /v2/user/image/vm': { status: 202, json: { request: { id: 1, status: 'PENDING' } } },
    'GET /v2/user/image/vm': { json: { data: [], meta: { count: 0 } } },
    'GET /v2/request/image_sync/1': { json: { data: { id: 1, status: 'PROCESSED' } } },
  });
  const folder = temporaryDirectory();
  const file = path.join(folder, 'imgctl.prom');
  const profiles = ['p0', 'p1', 'p2', 'p3', 'p4', 'p5'];
  const base = ['--base-url', env.IMGCTL_BASE_URL, '--metrics-file', file];
  let running = profiles.length;
  const runs = profiles.map(async (profile) => {
    const result = await runBuilt(['sync', '--wait', '--profile', profile, ...base], { env });
    running -= 1;
    return result;
  });
  let reads = 0;
  while (running > 0) {
    if (existsSync(file)) {
      const text = readFileSync(file, 'utf8');
      expect(text).toMatch(/\d\n$/);
      expect(parseMetrics(text).size).toBeGreaterThanOrEqual(6);
      reads += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const result of await Promise.all(runs)) expect(result).toMatchObject({ exitCode: 0 });
  expect(reads).toBeGreaterThan(0);
  const text = readFileSync(file, 'utf8');
  for (const profile of profiles) {
    expect(valuesOf(text, profile)).toMatchObject({ imgctl_sync_last_exit_code: 0 });
  }
  expect(readdirSync(folder)).toEqual(['imgctl.prom']);
});
