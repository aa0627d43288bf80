// What the launcher does without loading the bundle.

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

/** Copies the package without its bundle. */
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

describe('the launcher without the bundle', () => {
  it.each(Object.entries(COMPLETION_FILES))('prints completion %s', async (shell, file) => {
    const script = readFileSync(path.join(ROOT, file), 'utf8');
    expect(await launch(packageWithout(), 'completion', shell)).toBe(script);
  });

  it('prints the version', async () => {
    expect(await launch(packageWithout(), '--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['completion']],
    [['completion', 'nope']],
    [['completion', 'bash', '--help']],
    [['--version', '--json']],
  ])('needs the bundle for %j', async (argv) => {
    await expect(launch(packageWithout(), ...argv)).rejects.toThrow('dist/main.cjs');
  });

  it('needs the bundle if a completion script is missing', async () => {
    const launched = launch(packageWithout('completions'), 'completion', 'bash');
    await expect(launched).rejects.toThrow('dist/main.cjs');
  });
});

it('the launcher exits 0 if its reader closes the pipe', async () => {
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

it('the bundle prints completion scripts', async () => {
  const script = readFileSync(path.join(ROOT, COMPLETION_FILES.fish), 'utf8');
  const printed = await runBuilt(['completion', 'Fish'], { env: freshHome() });
  expect(printed).toEqual({ stdout: script, stderr: '', exitCode: 0 });
});
