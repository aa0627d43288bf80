// inspect: packages in each format, and exit codes.

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeSignature } from '../../../src/commands/packages/inspect.ts';
import { envelope, hardwareItem } from '../../ovf/harness.ts';
import { certificateFile, selfSigned } from '../../support/certificate.ts';
import { FIXTURES } from '../../support/files.ts';
import { runCli } from '../../support/io.ts';
import { packTar, sampleMembers } from '../../support/package-writer.ts';
import { expectSteps } from '../../support/steps.ts';
import { localUser } from '../../support/users.ts';

/** A user whose folder has packages that are sound, and others that lack something. */
function setUp() {
  const user = localUser();
  const write = (name: string, content: Uint8Array) =>
    writeFileSync(join(user.directory, name), content);
  write('one.ova', packTar(sampleMembers('one')));
  write('two.ova', packTar(sampleMembers('two')));
  write('junk.ova', Buffer.from('junk'));
  const [descriptor, { name }, disk] = sampleMembers('empty');
  write('empty.ova', packTar([descriptor, { name, content: Buffer.of() }, disk]));
  write('broken.ovf', sampleMembers('broken')[0].content);
  const members = sampleMembers('signed');
  const signature = certificateFile('signed.mf', members[1].content, selfSigned('localhost'));
  const certificate = { name: 'signed.cert', content: Buffer.from(signature) };
  write('signed.ova', packTar([...members.slice(0, 2), certificate, members[2]]));
  write('damaged.ova', packTar([{ name: 'x.ovf', content: Buffer.from('<Envelope>') }]));
  return user;
}

const ONE = {
  ...{ file: 'one.ova', kind: 'ova', ovf_version: expect.any(String) },
  systems: [
    {
      ...{
        name: 'one',
        operating_system: 'A boot sector that says hello',
        hardware_families: ['vmx-07'],
      },
      hardware: { cpus: 1, memory: expect.any(Number) },
    },
  ],
  disks: [{ capacity: 4 * 1024 ** 2, file: 'one-disk1.vmdk' }],
  ...{ deployment_options: [], manifest: { algorithm: 'SHA256' }, findings: [] },
};
const BROKEN =
  'imgctl: warning: broken.ovf has 1 error\nhint: see all findings with: imgctl validate broken.ovf\n';
const JUNK =
  'junk.ova contains no readable OVF descriptor\nhint: see why with: imgctl validate junk.ova\n';
const COUNTED = `imgctl: error: ${JUNK}imgctl: 1 read, 1 failed: junk.ova\n`;
const SIGNED =
  /^certificate +signed\.cert\nsigned by +imgctl test \(ECDSA, SHA256\), valid until 2049-12-31, self-signed; the issuer is not verified$/m;
const DAMAGED = /^package +damaged\.ova\nkind +OVA archive\nfile +x\.ovf, 10 bytes, descriptor\n$/;
const UNREADABLE = 'imgctl: damaged.ova contains no readable OVF descriptor\nhint: see why with: ';
const BOTH_GONE =
  /^imgctl: error: file a\.ova does not exist\n.*imgctl: error: file b\.ova does .*\nimgctl: 2 failed: a\.ova, b\.ova\n$/s;

describe('inspect', () => {
  it('prints a table', async () => {
    const { stdout } = await setUp().imgctl('inspect one.ova');
    const rows = stdout.trim().split('\n');
    expect(Object.fromEntries(rows.map((row) => row.split(/ {2,}/)))).toMatchObject({
      package: 'one.ova',
      kind: 'OVA archive',
      'OVF version': expect.stringMatching(/^[12]\./),
      system: expect.stringMatching(
        /^one, A boot sector that says hello, 1 CPU, .* MiB memory, 1 disk, .*, vmx-07$/,
      ),
      disk: expect.stringMatching(/, 4 MiB, streamOptimized, one-disk1\.vmdk$/),
      'file 1': expect.stringMatching(/^one\.ovf, [\d.]+ KiB, descriptor$/),
      'file 2': expect.stringMatching(/^one\.mf, \d+ bytes, manifest$/),
      'file 3': expect.stringMatching(/^one-disk1\.vmdk, \d+ KiB, referenced$/),
      manifest: 'SHA256, 2 files',
    });
    expect(stdout).not.toContain(' -\n');
  });

  it('describes in words what a descriptor has', async () => {
    const { imgctl, directory } = localUser();
    const network = (name: string, text: string) =>
      `<Network ovf:name="${name}"><Description>${text}</Description></Network>`;
    const item = (attributes: string) =>
      hardwareItem({ InstanceID: 1, ResourceType: 3, VirtualQuantity: 2 }, attributes);
    const xml = envelope(`<DiskSection><Disk ovf:diskId="a" ovf:capacity="1024"/>
        <Disk ovf:diskId="b" ovf:format="a#b/"/></DiskSection>
      <NetworkSection>${network('lan', 'office')}${network('wan', 'wan')}</NetworkSection>
      <DeploymentOptionSection><Configuration/><Configuration ovf:id="small"/>
        <Configuration ovf:id="large" ovf:default="true"/></DeploymentOptionSection>
      <VirtualSystemCollection ovf:id="all"><VirtualSystemCollection ovf:id="some">
        <VirtualSystem ovf:id="one"><ProductSection><Product>Suite</Product><Vendor>V</Vendor>
          <Version>1</Version><FullVersion>1.0.1</FullVersion><Property ovf:key="b"/></ProductSection>
          <VirtualHardwareSection>${item('ovf:configuration="large"')}</VirtualHardwareSection>
        </VirtualSystem></VirtualSystemCollection>
        <VirtualSystem><ProductSection><Version>2</Version></ProductSection></VirtualSystem>
      </VirtualSystemCollection>`);
    writeFileSync(join(directory, 'one.ovf'), xml);
    const { stdout } = await imgctl('inspect one.ovf');
    expect(stdout.replace(/ {2,}/g, ': ')).toMatch(`kind: OVF descriptor and its files
OVF version: 1.x
product 1: Suite, V, 1.0.1, 1 property
product 2: 2, 0 properties
system 1: one, 2 CPUs, 0 disks, 0 network adapters, in all/some
system 2: unnamed, 0 disks, 0 network adapters, in all
disk 1: a, 1 KiB, empty
disk 2: b, b/, empty
network 1: lan, office
network 2: wan
option 1: small: 0 disks, 0 network adapters
option 2: large (default): 2 CPUs, 0 disks, 0 network adapters
file: one.ovf, `);
  });

  it('prints packages in every format, and fails after them for what is no package', async () => {
    await expectSteps(
      setUp().imgctl,
      ['inspect one.ova --json', ONE],
      ['inspect one.ova two.ova --json', [ONE, { file: 'two.ova', findings: [] }]],
      ['inspect one.ova two.ova -o ndjson', /^\{.*"file":"one.*\}\n\{.*"file":"two.*\}\n$/],
      ['inspect one.ova two.ova -o csv', /^file,kind,.*\r\none.*\r\ntwo.*\r\n$/],
      ['inspect one.ova two.ova', /^package +one\.ova\n(.+\n)+\npackage +two\.ova\n/],
      ['inspect one.ova two.ova -q', 'one.ova\ntwo.ova\n'],
      ['inspect broken.ovf -q', 'broken.ovf\n', BROKEN],
      ['inspect signed.ova', SIGNED],
      ['inspect empty.ova', /^manifest +0 files$/m],
      ['inspect junk.ova', '', `imgctl: ${JUNK}`, 1],
      ['inspect damaged.ova', DAMAGED, new RegExp(`^${UNREADABLE}`), 1],
      ['inspect junk.ova one.ova -q', 'junk.ova\none.ova\n', COUNTED, 1],
      ['inspect a.ova b.ova -q', '', BOTH_GONE, 5],
    );
  });
});

it('a long format of a disk without a slash is printed at once', async () => {
  const { directory, imgctl } = localUser();
  // A pattern that started again at each character would take minutes.
  const format = 'a'.repeat(200_000);
  const disk = `<Disk ovf:diskId="d" ovf:capacity="1" ovf:format="${format}"/>`;
  const descriptor = envelope(`<DiskSection>${disk}</DiskSection>`);
  writeFileSync(join(directory, 'vm.ovf'), descriptor);
  const { stdout } = await imgctl('inspect vm.ovf');
  expect(stdout.includes(format)).toBe(true);
});

it('a signature names its issuer, unless it is the signer', () => {
  const dates = { validFrom: '2024-01-01T00:00:00Z', validUntil: '2025-02-03T00:00:00Z' };
  const signature = { ...dates, signer: 'Ann', issuer: 'An Authority', algorithm: 'RSA, SHA256' };
  const text = (selfSigned: boolean) => describeSignature({ ...signature, selfSigned });
  expect([text(true), text(false)]).toEqual([
    'Ann (RSA, SHA256), valid until 2025-02-03, self-signed; the issuer is not verified',
    'Ann (RSA, SHA256), valid until 2025-02-03, issued by An Authority; the issuer is not verified',
  ]);
});

it.skipIf(!existsSync(FIXTURES)).each([
  ['ubuntu.2.0.ovf', /^system +ubuntu, Ubuntu_64, 1 CPU, 512 MiB memory, 1 disk, 1 network/m],
  ['vmware.ovf', /^system +vmw, .*2 CPUs, 1\.5 GiB memory, 1 disk, 4 network adapters/m],
])('inspect prints %s as %s (only with ../shared/fixtures)', async (file, line) => {
  const { stdout, exitCode } = await runCli(['inspect', file], { cwd: FIXTURES });
  expect(stdout).toMatch(line);
  expect(exitCode).toBe(0);
});
