// What the launcher does without the bundle, and which code the bundle loads.

import { execFile } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { COMMAND, freshHome, runBuilt, scriptedService } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Runs a copy of the package without its bundle. */
function launch(line: string, names = ['bin', 'completions', 'package.json']) {
  const folder = temporaryDirectory();
  for (const name of names) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  const argv = [path.join(folder, 'bin/imgctl.js'), ...line.split(' ')];
  return promisify(execFile)(process.execPath, argv);
}

it('the launcher prints the version and completion scripts without the bundle', async () => {
  const script = readFileSync(path.join(ROOT, 'completions/imgctl.bash'), 'utf8');
  expect(await launch('completion bash')).toEqual({ stdout: script, stderr: '' });
  expect((await launch('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

it('the launcher says that imgctl is not built yet for anything else', async () => {
  const failure = { code: 2, stdout: '', stderr: 'imgctl: not built yet\nhint: npm run build\n' };
  for (const line of ['images list', 'completion nope', '--version --json']) {
    await expect(launch(line)).rejects.toMatchObject(failure);
  }
  await expect(launch('completion bash', ['bin'])).rejects.toMatchObject(failure);
});

it('the launcher exits 0 if its reader closes the pipe', async () => {
  const prelude = 'set -o pipefail; "$0" "$@" | true; exit';
  const result = await runBuilt(['completion', 'bash'], { env: freshHome(), prelude });
  expect(result).toEqual({ stdout: '', stderr: '', exitCode: 0 });
});

// The single executable has one file and ignores NODE_OPTIONS.
it.skipIf(COMMAND.length === 1)('a plain images list loads no heavy library', async () => {
  const { env } = await scriptedService(catalogueOf(testImages(3)));
  const hook = path.join(temporaryDirectory(), 'hook.cjs');
  writeFileSync(
    hook,
    "process.on('exit', () => process.stderr.write(Object.keys(require.cache).join('\\n')));",
  );
  const listed = { env: { ...env, NODE_OPTIONS: `--require ${hook}` } };
  const { stderr, exitCode } = await runBuilt(['images', 'list'], listed);
  expect(exitCode).toBe(0);
  expect(stderr).toContain('main.cjs');
  const chunks = readdirSync(path.resolve(COMMAND[1] ?? '', '../../dist/chunks'));
  for (const heavy of ['cli-table3', 'yaml', 'ora', 'server', 'sample', 'dav']) {
    const names = chunks.filter((name) => name.startsWith(`${heavy}-`));
    expect([heavy, names.length > 0]).toEqual([heavy, true]);
    expect(names.filter((name) => stderr.includes(name))).toEqual([]);
  }
});
