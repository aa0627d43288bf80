// inspect: packages in each format, and exit codes.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FIXTURES } from '../support/files.ts';
import { failed, runCli, temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';

/** Returns a folder with the sample as one.ova and two.ova. */
async function samples(): Promise<string> {
  const cwd = temporaryDirectory();
  await writeSampleOva(join(cwd, 'one.ova'), 'one');
  await writeSampleOva(join(cwd, 'two.ova'), 'two');
  return cwd;
}

describe('inspect', () => {
  it('prints a table', async () => {
    const { stdout, stderr, exitCode } = await runCli(['inspect', 'one.ova'], {
      cwd: await samples(),
    });
    const rows = stdout.trim().split('\n');
    const lines = Object.fromEntries(rows.map((line) => line.split(/ {2,}/)));
    expect(lines).toMatchObject({
      package: 'one.ova',
      kind: 'OVA archive',
      'OVF version': expect.stringMatching(/^[12]\./),
      system: expect.stringMatching(/^one, .*1 CPU, .* MiB memory, 1 disk/),
      disk: expect.stringMatching(/, 4 MiB, streamOptimized, one-disk1\.vmdk$/),
      'file 1': expect.stringMatching(/^one\.ovf, .* KiB, descriptor$/),
      'file 2': expect.stringMatching(/^one\.mf, \d+ bytes, manifest$/),
      'file 3': expect.stringMatching(/^one-disk1\.vmdk, \d+ KiB, referenced$/),
      manifest: 'SHA256, 2 files',
      certificate: '-',
    });
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  });

  it('prints a JSON object for one file and an array for several', async () => {
    const cwd = await samples();
    const one = JSON.parse((await runCli(['inspect', 'one.ova', '--json'], { cwd })).stdout);
    expect(one).toMatchObject({
      file: 'one.ova',
      kind: 'ova',
      ovf_version: expect.any(String),
      systems: [{ name: 'one', hardware: { cpus: 1, memory: expect.any(Number) } }],
      disks: [{ capacity: 4 * 1024 ** 2, file: 'one-disk1.vmdk' }],
      deployment_options: [],
      manifest: { algorithm: 'SHA256' },
      findings: [],
    });
    const both = await runCli(['inspect', 'one.ova', 'two.ova', '--json'], { cwd });
    expect(JSON.parse(both.stdout)).toEqual([
      one,
      expect.objectContaining({ file: 'two.ova', findings: [] }),
    ]);
  });

  it.each(['ndjson', 'csv'])('prints one line per file: %s', async (format) => {
    const cwd = await samples();
    const { stdout } = await runCli(['inspect', 'one.ova', 'two.ova', '-o', format], { cwd });
    const header = format === 'ndjson' ? [] : [expect.stringMatching(/^file[,\t]kind[,\t]/)];
    expect(stdout.trim().split(/\r?\n/)).toEqual([
      ...header,
      expect.stringContaining('one.ova'),
      expect.stringContaining('two.ova'),
    ]);
  });

  it('separates tables by a blank line, and prints only file names with -q', async () => {
    const cwd = await samples();
    const tables = await runCli(['inspect', 'one.ova', 'two.ova'], { cwd });
    expect(tables.stdout).toMatch(/^package +one\.ova\n(.+\n)+\npackage +two\.ova\n/);
    const names = await runCli(['inspect', 'one.ova', 'two.ova', '-q'], { cwd });
    expect(names.stdout).toBe('one.ova\ntwo.ova\n');
  });

  it('ignores a wrong digest', async () => {
    const cwd = await samples();
    const bytes = readFileSync(join(cwd, 'one.ova'));
    bytes[bytes.length - 2_000] = 1 ^ (bytes[bytes.length - 2_000] ?? 0);
    writeFileSync(join(cwd, 'one.ova'), bytes);
    expect((await runCli(['validate', 'one.ova'], { cwd })).exitCode).toBe(1);
    expect(await runCli(['inspect', 'one.ova'], { cwd })).toMatchObject({
      stderr: '',
      exitCode: 0,
    });
  });

  it('warns about findings', async () => {
    const cwd = temporaryDirectory();
    const reference = '<File ovf:id="f" ovf:href="gone.vmdk"/>';
    const address = 'http://schemas.dmtf.org/ovf/envelope/1';
    writeFileSync(
      join(cwd, 'vm.ovf'),
      `<Envelope xmlns="${address}" xmlns:ovf="${address}"><References>${reference}</References><VirtualSystem ovf:id="vm"/></Envelope>`,
    );
    const { stderr, exitCode } = await runCli(['inspect', 'vm.ovf'], { cwd });
    expect(exitCode).toBe(0);
    expect(stderr).toBe(
      'imgctl: warning: vm.ovf has 1 error\nhint: see all findings with: imgctl validate vm.ovf\n',
    );
  });

  it('exits 1 for a file that is not a package after printing the others', async () => {
    const cwd = await samples();
    writeFileSync(join(cwd, 'junk.ova'), 'junk');
    const both = await runCli(['inspect', 'junk.ova', 'one.ova', '-q'], { cwd });
    expect(both).toMatchObject({ stdout: 'junk.ova\none.ova\n', exitCode: 1 });
    expect(await runCli(['inspect', 'junk.ova'], { cwd })).toEqual({
      stdout: '',
      stderr:
        'imgctl: junk.ova contains no readable OVF descriptor\nhint: see why with: imgctl validate junk.ova\n',
      exitCode: 1,
    });
  });

  it('exits 5 for a missing file after printing the others', async () => {
    const cwd = await samples();
    const result = await runCli(['inspect', 'a.ova', 'one.ova', 'b.ova', '--json'], { cwd });
    expect(result.exitCode).toBe(5);
    expect(JSON.parse(result.stdout)).toMatchObject([{ file: 'one.ova' }]);
    const [first = '', second = ''] = result.stderr.split('\n');
    expect(JSON.parse(first).warning.message).toBe('file a.ova does not exist');
    expect(JSON.parse(second).error).toMatchObject({
      code: 'not-found',
      message: 'file b.ova does not exist',
    });
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

unixOnly('paths are written for Unix')('inspect asks for a file in a folder', async () => {
  const folder = temporaryDirectory();
  expect(await runCli(['inspect', folder])).toEqual(
    failed(
      1,
      `imgctl: ${folder} is not a file\nhint: name an OVA or OVF file: imgctl inspect ${folder}/NAME.ova\n`,
    ),
  );
});
