// doctor: the upload storage.

import { describe, expect, it } from 'vitest';
import { storageUser } from '../support/uploads.ts';
import { diagnose } from './doctor-harness.ts';

describe('doctor checks the storage', () => {
  it('and finds nothing wrong', async () => {
    const { env, storage } = await storageUser('dav');
    const { of } = await diagnose({ env });
    const { host } = new URL(storage.baseUrl);
    expect(of('storage')).toBe(`ok: ${host}: reachable, credentials accepted`);
  });

  it('and says that the credentials are wrong', async () => {
    const { env, imgctl } = await storageUser('s3');
    const wrong = { ...env, IMGCTL_UPLOAD_SECRET: 'wrong-one' };
    const { of, problems } = await diagnose({ env: wrong });
    expect(of('storage')).toMatch(
      /^failed: .*SignatureDoesNotMatch.* -> check IMGCTL_UPLOAD_SECRET and upload-access-key: imgctl/,
    );
    expect(problems).toContain('storage: failed');
    await imgctl('config unset upload-access-key');
    expect((await diagnose({ env })).of('storage')).toMatch(
      /^failed: no access key .* -> run: imgctl config set/,
    );
  });

  it.each([
    [
      { IMGCTL_UPLOAD_SECRET: '', IMGCTL_UPLOAD_SECRET_FILE: '/none' },
      /^failed: cannot read the upload secret file \/none: ENOENT -> check IMGCTL_UPLOAD_SECRET_FILE /,
    ],
    [
      { IMGCTL_UPLOAD_SECRET: '' },
      /^failed: the upload secret command .* -> .*: imgctl config get upload-secret-command$/,
    ],
  ])('and says that the secret cannot be read: %j', async (secret, expected) => {
    const { env, imgctl } = await storageUser('s3');
    await imgctl('config set upload-secret-command false');
    const { of } = await diagnose({ env: { ...env, ...secret } });
    expect(of('storage')).toMatch(expected);
  });

  it('and blames a wrong clock, not the credentials', async () => {
    const { env } = await storageUser('s3');
    const { of } = await diagnose({ env, time: Date.now() + 3_600_000 });
    expect(of('storage')).toMatch(/^failed: .*RequestTimeTooSkewed.* -> set the clock/);
  });

  it('and says that the user name is missing', async () => {
    const { env, imgctl } = await storageUser('dav');
    await imgctl('config unset upload-username');
    expect((await diagnose({ env })).of('storage')).toMatch(
      /^failed: .*\(401\) -> run: imgctl config set upload-username NAME$/,
    );
  });

  it('and says nothing without one', async () => {
    const { env, imgctl } = await storageUser('dav');
    await imgctl('config unset upload-url');
    const { rows } = await diagnose({ env });
    expect(rows.map(({ check }) => check)).not.toContain('storage');
  });
});
