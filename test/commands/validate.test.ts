// validate: findings in each format, and exit codes.

import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeBytes } from '../../src/commands/packages.ts';
import { describeRate } from '../../src/commands/validate.ts';
import { failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { packTar, sampleMembers } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';

/** Returns a folder with a valid good.ova, a warned.ova without manifest and a bad.ova with a flipped byte. */
function packages(): string {
  const cwd = temporaryDirectory();
  const members = sampleMembers('vm');
  writeFileSync(join(cwd, 'good.ova'), packTar(members));
  writeFileSync(join(cwd, 'warned.ova'), packTar(members.filter(({ name }) => name !== 'vm.mf')));
  const damaged = packTar(members);
  const byte = damaged.length - 2_000;
  damaged[byte] = (damaged[byte] ?? 0) ^ 1;
  writeFileSync(join(cwd, 'bad.ova'), damaged);
  return cwd;
}

describe('validate', () => {
  it('reports a valid package on stderr only', async () => {
    const result = await runCli(['validate', 'good.ova'], { cwd: packages() });
    expect(result).toEqual({
      stdout: '',
      stderr: 'imgctl: good.ova: valid, no findings\n',
      exitCode: 0,
    });
  });

  it('prints warnings and exits 0', async () => {
    const result = await runCli(['validate', 'warned.ova'], { cwd: packages() });
    expect(result.stdout).toMatch(/^severity +code +place +message\nwarning +no-manifest /);
    expect(result.stderr).toBe('imgctl: warned.ova: valid, 1 warning\n');
    expect(result.exitCode).toBe(0);
  });

  it('prints errors and exits 1', async () => {
    const { stdout, stderr, exitCode } = await runCli(['validate', 'bad.ova'], { cwd: packages() });
    expect(stdout).toMatch(/\nerror +digest-mismatch +vm-disk1\.vmdk +SHA256 is [0-9a-f]{64}, /);
    expect(stderr).toMatch(/^imgctl: bad\.ova is invalid: 1 error\nhint: .+\n$/);
    expect(exitCode).toBe(1);
  });

  it('names the file of each finding if there are several files', async () => {
    const cwd = packages();
    const all = ['validate', 'good.ova', 'warned.ova', 'bad.ova'];
    const { stdout, exitCode } = await runCli(all, { cwd });
    expect(stdout.split('\n').map((line) => line.split(/ +/).slice(0, 3))).toEqual([
      ['file', 'severity', 'code'],
      ['warned.ova', 'warning', 'no-manifest'],
      ['bad.ova', 'error', 'digest-mismatch'],
      [''],
    ]);
    expect(exitCode).toBe(1);
    expect((await runCli([...all, '-q'], { cwd })).stdout).toBe('no-manifest\ndigest-mismatch\n');
  });

  it('prints the same findings in every format', async () => {
    const cwd = packages();
    const show = async (format: string, file = 'bad.ova') =>
      (await runCli(['validate', file, '-o', format], { cwd })).stdout;
    const json = JSON.parse(await show('json'));
    expect(json).toEqual([
      {
        file: 'bad.ova',
        code: 'digest-mismatch',
        severity: 'error',
        place: 'vm-disk1.vmdk',
        message: expect.stringContaining('the manifest has'),
      },
    ]);
    expect(JSON.parse(await show('ndjson'))).toEqual(json[0]);
    expect(await show('csv')).toMatch(/^severity,code,place,message\r\nerror,digest-mismatch,vm-/);
    const { stderr } = await runCli(['validate', 'bad.ova', '--json'], { cwd });
    expect(JSON.parse(stderr).error).toMatchObject({ code: 'invalid-package', exitCode: 1 });
    expect(await show('json', 'good.ova')).toBe('[]\n');
    expect(await show('ndjson', 'good.ova')).toBe('');
  });

  it('reports a folder, and exits 5 for a missing file after checking the others', async () => {
    const cwd = packages();
    const folder = await runCli(['validate', '.', '-q'], { cwd });
    expect(folder).toEqual({
      stdout: 'not-a-file\n',
      stderr: 'imgctl: . is not a file\nhint: name an OVA or OVF file: imgctl validate NAME.ova\n',
      exitCode: 1,
    });
    const missing = await runCli(['validate', 'gone.ova', 'bad.ova', '-q'], { cwd });
    expect(missing).toMatchObject({ stdout: 'digest-mismatch\n', exitCode: 5 });
    expect(missing.stderr).toContain('imgctl: file gone.ova does not exist\nhint: ');
  });

  it.each(['validate', 'inspect'])('%s exits 2 for an empty name', async (command) => {
    const result = await runCli([command, 'good.ova', ''], { cwd: packages() });
    expect(result).toEqual(
      failed(2, /^imgctl: the name of a file must not be empty \(got ''\)\nhint: provide an OVA/),
    );
  });

  unixOnly('symbolic links need rights')('exits 1 for an unreadable file', async () => {
    const cwd = packages();
    symlinkSync('loop.ova', join(cwd, 'loop.ova'));
    expect(await runCli(['validate', 'loop.ova'], { cwd })).toEqual(
      failed(1, /^imgctl: cannot read loop\.ova: ELOOP\n$/),
    );
  });

  it('exits 130 when interrupted', async () => {
    const io = fakeIo({ cwd: packages() });
    io.interrupt();
    expect(await runCli(['validate', 'good.ova'], io)).toMatchObject({ stdout: '', exitCode: 130 });
  });
});

it.each([
  [512, 2_048, 1_000, '25 %, 512 bytes/s, 3 s left'],
  [2 ** 30, 2 ** 31, 2_000, '50 %, 512 MiB/s, 2 s left'],
  [2 ** 20, 2 ** 20, 0, '100 %, 1000 MiB/s, 0 s left'],
])('describeRate formats %d of %d bytes in %d ms', (done, total, elapsed, text) => {
  expect(describeRate(done, total, elapsed)).toBe(text);
});

it('describeRate names no rate before anything is done', () => {
  expect(describeRate(200, 400, 3_000, 200)).toBe('50 %');
});

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1_023, '1023 bytes'],
  [1_024, '1 KiB'],
  [1_536, '1.5 KiB'],
  [68_608, '67 KiB'],
  [1024 ** 2 - 1, '1 MiB'],
  [2 ** 31, '2 GiB'],
  [2 ** 53, '8 PiB'],
])('describeBytes formats %d bytes', (bytes, text) => {
  expect(describeBytes(bytes)).toBe(text);
});

describe('validate --max-hardware', () => {
  const findingsFor = async (version: string, change: (descriptor: string) => string) => {
    const cwd = temporaryDirectory();
    const [descriptor, , disk] = sampleMembers('vm');
    writeFileSync(join(cwd, disk.name), disk.content);
    writeFileSync(join(cwd, descriptor.name), change(descriptor.content.toString()));
    const argv = ['validate', 'vm.ovf', '-o', 'json', '--max-hardware', version];
    const { stdout, exitCode } = await runCli(argv, { cwd });
    const findings: { code: string; message: string }[] = JSON.parse(stdout);
    return {
      exitCode,
      messages: findings
        .filter(({ code }) => code !== 'no-manifest')
        .map(({ code, message }) => `${code}: ${message}`),
    };
  };
  const withTypes = (types: string) => (text: string) => text.replace('vmx-07', types);
  const withItem = (type: number, subtype: string) => (text: string) => {
    const id = `<rasd:InstanceID>99</rasd:InstanceID><rasd:ElementName>x</rasd:ElementName>`;
    const item = `<Item>${id}<rasd:ResourceSubType>${subtype}</rasd:ResourceSubType><rasd:ResourceType>${type}</rasd:ResourceType></Item>`;
    return text.replace('</VirtualHardwareSection>', `${item}</VirtualHardwareSection>`);
  };

  it.each<[string, (text: string) => string, string[]]>([
    ['vmx-07', (text) => text, []],
    ['vmx-6', (text) => text, ['newer-hardware: vmx-07, newer than vmx-6']],
    ['vmx-13', withTypes('vmx-19'), ['newer-hardware: vmx-19, newer than vmx-13']],
    ['vmx-13', withTypes('vmx-18,  vmx-19'), ['newer-hardware: vmx-18, vmx-19, newer than vmx-13']],
    ['vmx-13', withTypes('vmx-10 vmx-19'), []],
    ['vmx-13', withTypes('virtualbox-2.2'), []],
    ['vmx-13', withTypes('xvmx-19 vmx-19x'), []],
    ['vmx-13', (text) => text.replace(/<System>[\s\S]*<\/System>/, ''), []],
    [
      'vmx-13',
      withItem(23, 'vmware.usb.xhci'),
      ['unsupported-device: a USB controller (vmware.usb.xhci)'],
    ],
    ['vmx-13', withItem(22, ''), ['unsupported-device: a parallel port (22)']],
    ['vmx-13', withItem(35, 'ensoniq1371'), ['unsupported-device: a sound card (ensoniq1371)']],
    [
      'vmx-13',
      withItem(1, 'vmware.soundcard.hdaudio'),
      ['unsupported-device: a sound card (vmware.soundcard.hdaudio)'],
    ],
  ])('%s warns where it has to (case %#)', async (version, change, messages) => {
    expect(await findingsFor(version, change)).toEqual({ exitCode: 0, messages });
  });

  it.each(['13', 'vmx-', 'vmx-x'])('rejects %s', async (version) => {
    const result = await runCli(['validate', 'x.ova', '--max-hardware', version]);
    expect(result).toEqual(failed(2, `--max-hardware must be like vmx-13 (got ${version})`));
  });
});
