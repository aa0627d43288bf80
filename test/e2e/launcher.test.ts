// What the launcher does without loading the bundle.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { COMPLETION_FILES } from '../../src/commands/completion.ts';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { COMMAND, freshHome, issue, runBuilt, scriptedService } from '../support/cli.ts';
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

const NOT_BUILT = {
  code: 2,
  stdout: '',
  stderr: 'imgctl: not built yet\nhint: npm run build\n',
};

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
    [['images', 'list']],
  ])('says for %j that it is not built yet', async (argv) => {
    await expect(launch(packageWithout(), ...argv)).rejects.toMatchObject(NOT_BUILT);
  });

  it('says that it is not built yet if a completion script is missing', async () => {
    const launched = launch(packageWithout('completions'), 'completion', 'bash');
    await expect(launched).rejects.toMatchObject(NOT_BUILT);
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

it.skipIf(COMMAND.length === 1)(
  'images list loads no chunk of another command (skipped for an executable)',
  async () => {
    const { user } = await scriptedService(({ url }) =>
      url.pathname === '/v2/image' ? { json: cataloguePage(url, testImages(2)) } : issue('T1'),
    );
    const hook = path.join(temporaryDirectory(), 'hook.cjs');
    const names = "Object.keys(require.cache).map((file) => require('path').basename(file))";
    writeFileSync(hook, `process.on('exit', () => process.stderr.write(${names}.join('\\n')));`);
    const env = { ...user, NODE_OPTIONS: `--require=${hook}` };
    const { stderr, exitCode } = await runBuilt(['images', 'list', '--json'], { env });
    expect(exitCode).toBe(0);
    const chunks = stderr
      .split('\n')
      .flatMap((name) => /^(.+)-[\w-]{8}\.cjs$/.exec(name)?.[1] ?? []);
    expect(chunks).toEqual(expect.arrayContaining(['client', 'listing']));
    const others = ['commands', 'mcp', 'metrics', 'programs', 'push', 'schemas', 'server'];
    expect(chunks.filter((name) => others.includes(name))).toEqual([]);
  },
);
