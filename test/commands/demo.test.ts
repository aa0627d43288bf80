// demo: what it needs.

import { describe, expect, onTestFinished, vi } from 'vitest';
import { failed, runCli } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

describe('demo', () => {
  unixOnly('TMPDIR is Unix').each([
    ['/no/such/folder', 'ENOENT'],
    ['/dev/null', 'ENOTDIR'],
  ])('exits 2 with a hint if TMPDIR is %s', async (folder, reason) => {
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const message = `imgctl: cannot create a folder in ${folder}: ${reason}\nhint: set TMPDIR to `;
    expect(await runCli(['demo'])).toEqual(failed(2, message));
  });
});
