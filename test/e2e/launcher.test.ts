// What the launcher answers by itself: it does so without the bundle, and leaves all else to that.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMPLETION_FILES } from '../../src/commands/completion.ts';
import { COMMAND, freshHome, runBuilt } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** The package without its bundle. */
function packageWithout(...missing: string[]): string {
  const folder = temporaryDirectory();
  for (const name of ['bin', 'completions', 'package.json']) {
    if (!missing.includes(name))
      cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  return path.join(folder, 'bin/imgctl.js');
}

async function launch(launcher: string, ...argv: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, [launcher, ...argv])).stdout;
}

describe('without the bundle', () => {
  it.each(Object.entries(COMPLETION_FILES))(
    'completion %s is still printed',
    async (shell, file) => {
      const script = readFileSync(path.join(ROOT, file), 'utf8');
      expect(await launch(packageWithout(), 'completion', shell)).toBe(script);
    },
  );

  it('the version is, too', async () => {
    expect(await launch(packageWithout(), '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['completion']],
    [['completion', 'nope']],
    [['completion', 'bash', '--help']],
    [['completion', 'constructor']],
    [['--version', '--json']],
  ])('%j is left to it', async (argv) => {
    await expect(launch(packageWithout(), ...argv)).rejects.toThrow('dist/main.cjs');
  });

  it('a script that is missing is left to it', async () => {
    const launched = launch(packageWithout('completions'), 'completion', 'bash');
    await expect(launched).rejects.toThrow('dist/main.cjs');
  });
});

it('a reader that closes early is no error', async () => {
  const [program, ...words] = COMMAND;
  const child = spawn(program, [...words, 'completion', 'bash'], {
    env: freshHome(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [exitCode] = await once(child, 'close');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
});

it('what is left to the bundle finds the scripts, too', async () => {
  const script = readFileSync(path.join(ROOT, COMPLETION_FILES.fish), 'utf8');
  const printed = await runBuilt(['completion', 'Fish'], { env: freshHome() });
  expect(printed).toEqual({ stdout: script, stderr: '', exitCode: 0 });
});

it('a shell that there is not is a usage error of the program', async () => {
  const { stderr, exitCode } = await runBuilt(['completion', 'zhs'], { env: freshHome() });
  expect(stderr).toContain('did you mean zsh?');
  expect(exitCode).toBe(2);
});
