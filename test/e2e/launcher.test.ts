// What the launcher does without the bundle, which code the bundle loads and how, and what happens if that is removed.

import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { transformSync } from 'rolldown/utils';
import { expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { ROOT } from '../support/documents.ts';
import { failed, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import {
  COMMAND,
  programUser,
  runProgram,
  startEmulatorProgram,
  withHook,
} from '../support/program.ts';
import { freshHome } from '../support/users.ts';

/** Returns a copy of parts of the package. */
function copyOf(...names: string[]): string {
  const folder = temporaryDirectory();
  for (const name of names) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  return folder;
}

/** Runs a copy of the package. */
function launch(line: string, folder: string, env = {}) {
  const argv = [path.join(folder, 'bin/imgctl.js'), ...line.split(' ')];
  return promisify(execFile)(process.execPath, argv, { env });
}

it('the launcher prints the version and completion scripts without the bundle, else that it is not built', async () => {
  const folder = copyOf('bin', 'completions', 'package.json');
  const script = readFileSync(path.join(ROOT, 'completions/imgctl.bash'), 'utf8');
  expect(await launch('completion bash', folder)).toEqual({ stdout: script, stderr: '' });
  expect((await launch('--version', folder)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  const failure = { code: 2, stdout: '', stderr: 'imgctl: not built yet\nhint: npm run build\n' };
  for (const line of ['images list', 'completion nope']) {
    await expect(launch(line, folder)).rejects.toMatchObject(failure);
  }
});

it.each([
  ['12.22.12', '20.19'],
  ['20.10.0', '20.19'],
  ['21.7.3', '22.3'],
  ['22.2.0', '22.3'],
])('on Node %s every command exits 2 and says in one line what is needed', async (node, needed) => {
  const versions = `{ value: { ...process.versions, node: '${node}' } }`;
  const env = withHook({}, `Object.defineProperty(process, 'versions', ${versions});`);
  const stderr = `imgctl: needs Node ${needed} or later, found ${node}, at ${process.execPath}\n`;
  for (const line of ['--version', 'completion bash', 'doctor', 'images list --json']) {
    await expect(launch(line, ROOT, env)).rejects.toMatchObject({ code: 2, stdout: '', stderr });
  }
});

it('the launcher has no syntax that Node 12 does not know', () => {
  const text = readFileSync(path.join(ROOT, 'bin/imgctl.js'), 'utf8');
  const codeFor = (target: string) => transformSync('imgctl.js', text, { target }).code;
  expect(codeFor('es2019')).toBe(codeFor('esnext'));
});

unixOnly('shells are Unix')('the launcher exits 0 if its reader closes the pipe', async () => {
  const prelude = 'set -o pipefail; "$0" "$@" | true; exit';
  const result = await runProgram(['completion', 'bash'], { env: freshHome(), prelude });
  expect(result).toEqual({ stdout: '', stderr: '', exitCode: 0 });
});

// The single executable has one file and ignores NODE_OPTIONS.
const withFiles = it.skipIf(COMMAND.length === 1);

withFiles('a plain images list loads no heavy library (only with Node)', async () => {
  const { env } = await programUser(catalogueOf(testImages(250)));
  const report = `process.stderr.write(Object.keys(require.cache).join('\\n'))`;
  const hooked = withHook(env, `process.on('exit', () => ${report});`);
  const { stderr } = await runProgram(['images', 'list'], { env: hooked });
  expect(stderr).toContain('main.cjs');
  const chunks = readdirSync(path.resolve(COMMAND[1] ?? '', '../../dist/chunks'));
  for (const heavy of ['cli-table3', 'yaml', 'ora', 'server', 'sample', 'dav']) {
    const names = chunks.filter((name) => name.startsWith(`${heavy}-`));
    expect(names, heavy).not.toEqual([]);
    expect(names.filter((name) => stderr.includes(name))).toEqual([]);
  }
});

withFiles.each([
  {},
  // The code for colours is in a file of its own.
  { FORCE_COLOR: '1' },
])('an upgrade ends images list with one line that says so: %j (only with Node)', async (more) => {
  const folder = copyOf('bin', 'dist', 'package.json');
  const { env, requests } = await programUser((request, index) => {
    rmSync(path.join(folder, 'dist'), { recursive: true });
    return catalogueOf(testImages(2))(request, index);
  });
  await expect(launch('images list', folder, { ...env, ...more })).rejects.toMatchObject({
    code: 1,
    stdout: '',
    stderr:
      'imgctl: imgctl was upgraded or removed while this command ran\n' +
      'hint: check what it did, then run it again; if that fails, reinstall imgctl\n',
  });
  expect(requests()).toHaveLength(1);
});

withFiles('a run that nothing can end any more exits 1 and says so (only with Node)', async () => {
  // A file system that never answers, and holds no handle that would keep Node alive.
  const env = withHook(freshHome(), "require('node:fs').read = () => {};");
  const file = path.join(ROOT, 'package.json');
  const result = await runProgram(['images', 'lock', 'list', '--file', file], { env });
  expect(result).toEqual(failed(1, 'the run ended too early; please report this\n'));
});

// A bundler may leave out a call that only throws.
unixOnly('signals are Unix')(
  'the emulator answers a path that is not properly encoded with 400',
  async () => {
    const { baseUrl, stop } = await startEmulatorProgram();
    expect((await fetch(`${baseUrl}/v2/%zz`)).status).toBe(400);
    expect(await stop()).toMatchObject({ stderr: '', exitCode: 0 });
  },
);
