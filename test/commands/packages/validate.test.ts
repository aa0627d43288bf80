// validate: findings in each format, and exit codes.

import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageError } from '../../../src/commands/packages/package-errors.ts';
import { describeRate } from '../../../src/words.ts';
import { certificateFile, selfSigned } from '../../support/certificate.ts';
import { flipByte } from '../../support/files.ts';
import { failed, fakeIo, runCli } from '../../support/io.ts';
import { packTar, sampleMembers } from '../../support/package-writer.ts';
import { unixOnly } from '../../support/platform.ts';
import { expectSteps } from '../../support/steps.ts';
import { localUser } from '../../support/users.ts';

/** A user with Good.ova, signed.ova, warned.ova and extra.ova without a manifest, and bad.ova with a flipped byte. */
function setUp() {
  const user = localUser();
  const members = sampleMembers('vm');
  const unlisted = members.filter(({ name }) => name !== 'vm.mf');
  writeFileSync(join(user.directory, 'Good.ova'), packTar(members));
  writeFileSync(join(user.directory, 'warned.ova'), packTar(unlisted));
  writeFileSync(join(user.directory, 'bad.ova'), packTar(members));
  flipByte(join(user.directory, 'bad.ova'), -2_000);
  const extras = ['a.txt', 'b.txt'].map((name) => ({ name, content: Buffer.from('x') }));
  writeFileSync(join(user.directory, 'extra.ova'), packTar([...unlisted, ...extras]));
  const signature = certificateFile('vm.mf', members[1].content, selfSigned('localhost'));
  const certificate = { name: 'vm.cert', content: Buffer.from(signature) };
  const signed = [...members.slice(0, 2), certificate, members[2]];
  writeFileSync(join(user.directory, 'signed.ova'), packTar(signed));
  return user;
}

const FINDING = { file: 'bad.ova', code: 'digest-mismatch', place: 'vm-disk1.vmdk' };
const ERROR = { error: { code: 'invalid-package', exitCode: 1 } };
const INVALID = /^imgctl: bad\.ova is invalid: 1 error\nhint: .+\n$/;
const WARNING = /^severity +code +place +message\nwarning +no-manifest /;
const MISMATCH = /\nerror +digest-mismatch +vm-disk1\.vmdk +SHA256 is \w{64}, the manifest has /;
const CSV = /^severity,code,place,message\r\nerror,digest-mismatch,vm-/;
const BOTH =
  /^file +severity +code .*\nwarned\.ova +warning +no-manifest .*\nbad\.ova +error .*\n$/;
const SIGNED =
  'imgctl: signed.ova: valid, no findings; signed by imgctl test (ECDSA, SHA256), valid until 2049-12-31, self-signed; the issuer is not verified\n';
const EXTRA =
  'imgctl: extra.ova: valid, 3 warnings; unpacked: vm-disk1.vmdk; only read: a.txt and 1 more\n';
const FOLDER = 'imgctl: . is not a file\nhint: name its files, such as *.ova\n';
const EMPTY = /^imgctl: the name of a file must not be empty\nhint: provide an OVA/;
const COUNTED =
  /^imgctl: error: bad\.ova is invalid: 1 error\nhint: .+\nimgctl: 1 valid, 1 failed: bad\.ova\n$/;
const MISSING =
  /^imgctl: error: file gone\.ova does not exist\nhint: .*\n[\s\S]*\nimgctl: 2 failed: gone\.ova, bad\.ova\n$/;

describe('validate', () => {
  it('prints the same findings in every format, and exits 1 for errors', async () => {
    await expectSteps(
      setUp().imgctl,
      ['validate Good.ova', '', 'imgctl: Good.ova: valid, no findings\n'],
      [
        'validate warned.ova',
        WARNING,
        'imgctl: warned.ova: valid, 1 warning; unpacked: vm-disk1.vmdk\n',
      ],
      ['validate signed.ova', '', SIGNED],
      ['validate extra.ova', /unreferenced-file/, EXTRA],
      ['validate bad.ova', MISMATCH, INVALID, 1],
      ['validate bad.ova --json', [{ ...FINDING, severity: 'error' }], ERROR, 1],
      ['validate bad.ova -o ndjson', FINDING, ERROR, 1],
      ['validate bad.ova -o csv', CSV, INVALID, 1],
      ['validate Good.ova --json', '[]\n', /valid, no findings/],
      ['validate Good.ova --get code', '', /valid, no findings/],
      ['validate warned.ova bad.ova --get place', 'vm.ovf\nvm-disk1.vmdk\n', /is invalid/, 1],
      ['validate Good.ova warned.ova bad.ova', BOTH, /invalid/, 1],
      [
        'validate extra.ova bad.ova -q --get code',
        'no-manifest\nunreferenced-file\nunreferenced-file\ndigest-mismatch\n',
        COUNTED,
        1,
      ],
      ['validate extra.ova bad.ova -q', 'extra.ova\nbad.ova\n', COUNTED, 1],
    );
  });

  it('shows the findings of several packages below their names on a terminal, and each hint once', async () => {
    const { imgctl, directory } = setUp();
    copyFileSync(join(directory, 'bad.ova'), join(directory, 'worse.ova'));
    const line = 'validate warned.ova bad.ova worse.ova gone.ova';
    const terminal = { columns: 200, errorColumns: 200 };
    const { stdout, stderr } = await imgctl(line, terminal);
    expect(stdout).toBe('');
    const finding = '  vm-disk1\\.vmdk: SHA256 is \\w{8}\\.\\.\\.\\w{8}, .*\n';
    const shown = [
      '! warned\\.ova: valid, 1 warning; .*\n  warning: vm\\.ovf: no manifest, .*\n',
      `✗ bad\\.ova is invalid: 1 error\n${finding}✗ worse\\.ova is invalid: 1 error\n${finding}`,
      '✗ file gone\\.ova does not exist\nhint: provide an OVA file, .*\n',
      'imgctl: 1 valid, 3 failed\nhint: fix the findings, .*\n',
    ];
    expect(stderr).toMatch(new RegExp(`^${shown.join('')}$`));
    const piped = (await imgctl(line)).stderr.split('\n').slice(1, -2);
    const labels = [
      'imgctl: error: bad',
      'hint: fix',
      'imgctl: error: worse',
      'imgctl: error: file',
      'hint: provide',
    ];
    expect(piped).toEqual(labels.map((label) => expect.stringMatching(`^${label}`)));
    // If stdout or stderr is not a terminal, the findings are in the output.
    for (const io of [{ columns: 200 }, { errorColumns: 200 }])
      expect((await imgctl(line, io)).stdout).toMatch(/^warned\.ova .*^bad\.ova .*^worse\.ova /ms);
    const named = await imgctl(`${line} --get file`, terminal);
    expect(named.stdout).toBe('warned.ova\nbad.ova\nworse.ova\n');
  });

  unixOnly('symbolic links need rights')('rejects what it cannot read', async () => {
    const { imgctl, directory } = setUp();
    symlinkSync('loop.ova', join(directory, 'loop.ova'));
    await expectSteps(
      imgctl,
      ['validate . -q', '', FOLDER, 1],
      ['validate gone.ova bad.ova -q', 'bad.ova\n', MISSING, 5],
      ['validate bad.ova gone.ova Good.ova -q', 'bad.ova\n', /: 1 valid, 2 failed: /, 1],
      ['inspect . bad.ova -q', 'bad.ova\n', /\nimgctl: 1 read, 1 failed: \.\n$/, 1],
      ['inspect 1003', '', /hint: for an image: imgctl images get 1003\n/, 5],
      [
        'validate loop.ova',
        '',
        'imgctl: cannot read loop.ova: too many symbolic links encountered\n',
        1,
      ],
      ["validate Good.ova ''", '', EMPTY, 2],
      ['inspect bad.ova -q', 'bad.ova\n'],
    );
  });
});

it.each(['validate', 'inspect'])('%s exits 130 when interrupted', async (command) => {
  const io = fakeIo({ cwd: setUp().directory });
  io.interrupt();
  expect(await runCli([command, 'Good.ova'], io)).toMatchObject({ stdout: '', exitCode: 130 });
});

it.each(['validate', 'inspect'])('%s warns of an expired certificate', async (command) => {
  const time = Date.parse('2050-01-01');
  const { stdout } = await setUp().imgctl(`${command} signed.ova --json`, { time });
  expect(stdout).toContain('"certificate-expired"');
});

it.each([
  [512, 2_048, 1_000, 0, '25 %, 512 bytes/s, 3 s left'],
  [2 ** 30, 2 ** 31, 2_000, 0, '50 %, 512 MiB/s, 2 s left'],
  [2 ** 20, 2 ** 20, 0, 0, '100 %, 1000 MiB/s, 0 s left'],
  [200, 400, 3_000, 200, '50 %'],
  [0, 0, 0, 0, '100 %'],
])('the progress of %d of %d bytes in %d ms, after %d: %s', (done, total, elapsed, known, text) => {
  expect(describeRate(done, total, elapsed, known)).toBe(text);
});

it.each([
  ['vm.ovf', 'vm.ovf'],
  ['a disk that was removed meanwhile', '/x/disk.vmdk'],
])('the error of a missing file names %s', (_, named) => {
  const path = resolve('/x', named);
  const cause = Object.assign(new Error('gone'), { syscall: 'open', code: 'ENOENT', path });
  const { message } = packageError('vm.ovf', '/x/vm.ovf', cause);
  expect(message).toBe(`file ${named} does not exist`);
});

describe('validate --max-hardware', () => {
  const system = (types: string) => (text: string) => text.replace('vmx-07', types);
  const item = (type: number, subtype: string) => (text: string) => {
    const id = '<rasd:InstanceID>99</rasd:InstanceID><rasd:ElementName>x</rasd:ElementName>';
    const kind = `<rasd:ResourceSubType>${subtype}</rasd:ResourceSubType><rasd:ResourceType>${type}</rasd:ResourceType>`;
    const end = '</VirtualHardwareSection>';
    return text.replace(end, `<Item>${id}${kind}</Item>${end}`);
  };
  const newer = (found: string) => `newer-hardware: ${found}, newer than vmx-13`;
  const other = (found: string) =>
    `other-hardware: ${found}, no vmx version to compare with vmx-13`;
  const device = (found: string) => `unsupported-device: ${found}`;
  const VMWARE_SOUND = 'vmware.SoundCard.hdaudio';

  it.each<[string, (text: string) => string, string?]>([
    ['vmx-07', (text) => text],
    ['vmx-6', (text) => text, 'newer-hardware: vmx-07, newer than vmx-6'],
    ['VMX-013', system('vmx-19'), newer('vmx-19')],
    ['vmx-13', system('vmx-18,  vmx-19'), newer('vmx-18, vmx-19')],
    ['vmx-13', system('VMX-0019'), newer('VMX-0019')],
    ['vmx-13', system('vmx-10 vmx-19')],
    ['vmx-13', system('vmx-19 virtualbox-2.2'), newer('vmx-19, virtualbox-2.2')],
    ['vmx-13', system('vmx-10 virtualbox-2.2')],
    ['vmx-13', system('virtualbox-2.2'), other('virtualbox-2.2')],
    ['vmx-13', system('xvmx-19 vmx-19x'), other('xvmx-19, vmx-19x')],
    ['vmx-13', (text) => text.replace(/<System>[\s\S]*<\/System>/, '')],
    [
      'vmx-13',
      (text) => text.replace(/<VirtualHardwareSection>[\s\S]*<\/VirtualHardwareSection>/, ''),
      'no-hardware: no VirtualHardwareSection',
    ],
    ['vmx-13', item(23, 'vmware.usb.xhci'), device('a USB controller (vmware.usb.xhci)')],
    ['vmx-13', item(22, ''), device('a parallel port (22)')],
    ['vmx-13', item(35, 'ensoniq1371'), device('a sound card (ensoniq1371)')],
    ['vmx-13', item(1, VMWARE_SOUND), device(`a sound card (${VMWARE_SOUND})`)],
  ])('%s warns about newer hardware and devices (case %#)', async (version, change, message) => {
    const { imgctl, directory } = localUser();
    const [descriptor, , disk] = sampleMembers('vm');
    writeFileSync(join(directory, disk.name), disk.content);
    writeFileSync(join(directory, descriptor.name), change(descriptor.content.toString()));
    const { stdout, exitCode } = await imgctl(`validate vm.ovf --json --max-hardware ${version}`);
    const findings: { code: string; message: string }[] = JSON.parse(stdout);
    const found = findings.filter(({ code }) => code !== 'no-manifest');
    const expected = message === undefined ? [] : [message];
    expect(found.map(({ code, message }) => `${code}: ${message}`)).toEqual(expected);
    expect(exitCode).toBe(0);
  });

  it.each(['13', 'vmx-', 'vmx-x', 'vmx-1000', 'xvmx-13', 'vmx-13x'])(
    'rejects %s',
    async (version) => {
      const result = await runCli(['validate', 'x.ova', '--max-hardware', version]);
      expect(result).toEqual(
        failed(2, `--max-hardware must be a version such as vmx-13 (got ${version})`),
      );
    },
  );
});
