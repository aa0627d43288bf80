// inspect: packages in each format, and exit codes.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../support/files.ts';
import { runCli } from '../support/io.ts';
import { packTar, sampleMembers } from '../support/package-writer.ts';
import { expectSteps } from '../support/steps.ts';
import { localUser } from '../support/users.ts';

/** A user whose folder has one.ova, two.ova, junk.ova and broken.ovf without its disk. */
function setUp() {
  const user = localUser();
  for (const name of ['one', 'two']) {
    writeFileSync(join(user.directory, `${name}.ova`), packTar(sampleMembers(name)));
  }
  writeFileSync(join(user.directory, 'junk.ova'), 'junk');
  const [descriptor] = sampleMembers('broken');
  writeFileSync(join(user.directory, 'broken.ovf'), descriptor.content);
  mkdirSync(join(user.directory, 'sub'));
  return user;
}

const ONE = {
  file: 'one.ova',
  kind: 'ova',
  ovf_version: expect.any(String),
  systems: [{ name: 'one', hardware: { cpus: 1, memory: expect.any(Number) } }],
  disks: [{ capacity: 4 * 1024 ** 2, file: 'one-disk1.vmdk' }],
  deployment_options: [],
  manifest: { algorithm: 'SHA256' },
  findings: [],
};

describe('inspect', () => {
  it('prints a table', async () => {
    const { stdout } = await setUp().imgctl('inspect one.ova');
    const rows = stdout.trim().split('\n');
    expect(Object.fromEntries(rows.map((row) => row.split(/ {2,}/)))).toMatchObject({
      package: 'one.ova',
      kind: 'OVA archive',
      'OVF version': expect.stringMatching(/^[12]\./),
      system: expect.stringMatching(/^one, .*1 CPU, .* MiB memory, 1 disk/),
      disk: expect.stringMatching(/, 4 MiB, streamOptimized, one-disk1\.vmdk$/),
      'file 1': expect.stringMatching(/^one\.ovf, [\d.]+ KiB, descriptor$/),
      'file 2': expect.stringMatching(/^one\.mf, \d+ bytes, manifest$/),
      'file 3': expect.stringMatching(/^one-disk1\.vmdk, \d+ KiB, referenced$/),
      manifest: 'SHA256, 2 files',
      certificate: '-',
    });
  });

  it('prints one package or several in every format', async () => {
    await expectSteps(
      setUp().imgctl,
      ['inspect one.ova --json', ONE],
      ['inspect one.ova two.ova --json', [ONE, { file: 'two.ova', findings: [] }]],
      ['inspect one.ova two.ova -o ndjson', /^\{.*"file":"one.*\}\n\{.*"file":"two.*\}\n$/],
      ['inspect one.ova two.ova -o csv', /^file,kind,.*\r\none.*\r\ntwo.*\r\n$/],
      ['inspect one.ova two.ova', /^package +one\.ova\n(.+\n)+\npackage +two\.ova\n/],
      ['inspect one.ova two.ova -q', 'one.ova\ntwo.ova\n'],
    );
  });

  it('ignores a wrong digest', async () => {
    const { imgctl, directory } = setUp();
    const bytes = readFileSync(join(directory, 'one.ova'));
    bytes[bytes.length - 2_000] = 1 ^ (bytes[bytes.length - 2_000] ?? 0);
    writeFileSync(join(directory, 'one.ova'), bytes);
    expect(await imgctl('validate one.ova')).toMatchObject({ exitCode: 1 });
    expect(await imgctl('inspect one.ova')).toMatchObject({ stderr: '', exitCode: 0 });
  });

  it('warns about findings, and fails for what is no package after printing the others', async () => {
    const junk =
      'imgctl: junk.ova contains no readable OVF descriptor\nhint: see why with: imgctl validate junk.ova\n';
    await expectSteps(
      setUp().imgctl,
      [
        'inspect broken.ovf -q',
        'broken.ovf\n',
        'imgctl: warning: broken.ovf has 1 error\nhint: see all findings with: imgctl validate broken.ovf\n',
      ],
      ['inspect junk.ova', '', junk, 1],
      ['inspect junk.ova one.ova -q', 'junk.ova\none.ova\n', junk, 1],
      [
        'inspect sub',
        '',
        'imgctl: sub is not a file\nhint: name an OVA or OVF file, such as sub/NAME.ova\n',
        1,
      ],
      [
        'inspect gone.ova one.ova --json',
        [{ file: 'one.ova' }],
        { error: { code: 'not-found', message: 'file gone.ova does not exist' } },
        5,
      ],
      [
        'inspect a.ova b.ova -q',
        '',
        /^imgctl: warning: file a\.ova does not exist\n.*imgctl: file b\.ova does/s,
        5,
      ],
    );
  });
});

it.skipIf(!existsSync(FIXTURES)).each([
  ['ubuntu.2.0.ovf', /^system +ubuntu, Ubuntu_64, 1 CPU, 512 MiB memory, 1 disk, 1 network/m],
  ['input.ovf', /^product +PRODUCT, VENDOR, DEVELOPMENT IMAGE, 10 property values$/m],
  ['input.ovf', /^option 3 +4CPU-4GB-3NIC \(default\): 4 CPUs, 4 GiB memory, .* 3 network/m],
  ['vmware.ovf', /^system +vmw, .*2 CPUs, 1\.5 GiB memory, 1 disk, 4 network adapters/m],
])('inspect prints %s as %s (skipped without ../shared/fixtures)', async (file, line) => {
  const { stdout, exitCode } = await runCli(['inspect', file], { cwd: FIXTURES });
  expect(stdout).toMatch(line);
  expect(exitCode).toBe(0);
});
