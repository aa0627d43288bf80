// The metrics file while several processes replace it.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { parseMetrics, valuesOf } from '../support/metrics.ts';
import { programUser, runProgram } from '../support/program.ts';

it('--metrics-file can be read at any moment while four processes replace the file', async () => {
  const { env } = await programUser({
    'PATCH /v2/user/image/vm': { status: 202, json: { request: { id: 1, status: 'PENDING' } } },
  });
  const folder = temporaryDirectory();
  const file = path.join(folder, 'imgctl.prom');
  const profiles = ['p0', 'p1', 'p2', 'p3'];
  const base = ['sync', '--base-url', env.IMGCTL_BASE_URL, '--metrics-file', file];
  let running = profiles.length;
  const runs = profiles.map(async (profile) => {
    const { exitCode } = await runProgram([...base, '--profile', profile], { env });
    running -= 1;
    return exitCode;
  });
  while (running > 0) {
    if (existsSync(file)) expect(parseMetrics(readFileSync(file, 'utf8')).size).toBeGreaterThan(2);
    await setImmediate();
  }
  expect(await Promise.all(runs)).toEqual([0, 0, 0, 0]);
  const text = readFileSync(file, 'utf8');
  const codes = profiles.map((profile) => valuesOf(text, profile).imgctl_sync_last_exit_code);
  expect([codes, readdirSync(folder)]).toEqual([[0, 0, 0, 0], ['imgctl.prom']]);
});
