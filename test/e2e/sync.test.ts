// sync and my-images of the built program, with real packages if they are there.

import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { account, type Environment, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { FIXTURES } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';

const UBUNTU = ['ubuntu.2.0.ovf', 'ubuntu.2.0.mf', 'ubuntu.2.0-disk1.vmdk'];
const INPUT = ['input.ovf', 'input.mf', 'input.vmdk', 'input.iso', 'sample_cfg.txt'];

const WAIT = ['sync', '--wait', '--poll-interval', '50ms'];

/** Starts an emulator whose user demo has an upload folder. */
async function startUploads(): Promise<{ env: Environment; folder: string }> {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const emulator = await startEmulatorProcess('--uploads', uploads, '--sync-delay', '100ms');
  onTestFinished(async () => {
    await emulator.stop();
  });
  return { env: account(emulator.baseUrl), folder };
}

describe.skipIf(!existsSync(FIXTURES))(
  'sync --wait with real packages (skipped without ../shared/fixtures)',
  () => {
    it('adds them to my-images and warns about a missing disk', async () => {
      const { env, folder } = await startUploads();
      execFileSync('tar', [
        '--format=ustar',
        '-cf',
        path.join(folder, 'ubuntu.ova'),
        '-C',
        FIXTURES,
        ...UBUNTU,
      ]);
      for (const name of INPUT) copyFileSync(path.join(FIXTURES, name), path.join(folder, name));

      const synced = await runBuilt([...WAIT, '--json'], { env });
      expect(synced.exitCode).toBe(0);
      expect(JSON.parse(synced.stdout)).toMatchObject({ state: 'succeeded', errors: [] });
      const listed = await runBuilt(['my-images', '-o', 'csv', '--columns', 'name'], { env });
      expect(listed.stdout.split('\r\n').sort()).toEqual(['', 'input.ovf', 'name', 'ubuntu.ova']);

      rmSync(path.join(folder, 'input.vmdk'));
      const again = await runBuilt(WAIT, { env });
      expect(again.stderr).toMatch(/^imgctl: warning: .*input\.vmdk/m);
      const listedAgain = await runBuilt(['my-images', '-o', 'tsv', '--columns', 'name'], { env });
      expect(listedAgain.stdout).toContain('ubuntu.ova');
    });
  },
);

describe('sync-status --wait-timeout', () => {
  it('exits 7 at the limit while the service stalls', async () => {
    const { baseUrl } = await serve({ faults: [parseFault('GET /v2/request/*=stall')] });
    const argv = ['sync-status', '41', '--wait-timeout', '100ms', '--timeout', '1h'];
    const result = await runBuilt(argv, { env: account(baseUrl) });
    expect(result).toMatchObject({ stdout: '', exitCode: 7 });
    expect(result.stderr).toMatch(/\(status: unknown\)\nhint: .*imgctl sync-status 41 .*--wait\n$/);
  });
});
