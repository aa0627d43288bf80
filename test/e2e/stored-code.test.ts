// Where the launcher stores compiled code, when it uses it, and where it leaves everything as it is.

import { execFileSync } from 'node:child_process';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { COMMAND, runProgram } from '../support/program.ts';
import { type Environment, freshHome } from '../support/users.ts';

const run = (env: Environment, prelude?: string) =>
  runProgram(['images', 'list', '--help'], { env, prelude });

/** Returns every file and folder with what it holds and when it changed. */
function treeOf(folder: string): readonly string[] {
  return (readdirSync(folder, { recursive: true }) as string[]).sort().map((name) => {
    const file = path.join(folder, name);
    const stats = lstatSync(file);
    const content = stats.isFile()
      ? readFileSync(file, 'utf8')
      : stats.isSymbolicLink() && readlinkSync(file);
    return `${name} ${stats.mode} ${stats.mtimeMs} ${content}`;
  });
}

// An executable contains its compiled code.
describe.skipIf(COMMAND.length === 1)('stored code (only with Node)', () => {
  it('is below ~/.cache, or XDG_CACHE_HOME in HOME, for its owner alone', async () => {
    const env = freshHome();
    await run(env);
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    const [file = ''] = readdirSync(folder);
    const all = [path.join(env.HOME, '.cache'), folder, path.join(folder, file)];
    expect(all.map(modeOf)).toEqual(['700', '700', '600']);
    const XDG_CACHE_HOME = path.join(env.HOME, 'var');
    await run({ ...env, XDG_CACHE_HOME });
    expect(readdirSync(`${XDG_CACHE_HOME}/imgctl/compiled`)).toEqual(readdirSync(folder));
  });

  const isRoot = process.getuid?.() === 0;
  const PARENT = '"$HOME/.cache/imgctl"';
  const COMPILED = `${PARENT}/compiled`;

  it.for<readonly [string, string, string?]>([
    ['a planted link outside of HOME', 'mkdir -m 777 s; ln -s .. s/imgctl', 's'],
    ['a link at ~/.cache/imgctl/compiled', `mkdir -p ${PARENT}; ln -s "$PWD" ${COMPILED}`],
    ['a link at HOME', 'mv "$HOME" "$HOME.real"; ln -s "$HOME.real" "$HOME"'],
    ['a folder above it that a group can write', 'mkdir -m 770 "$HOME/.cache"'],
    [
      'a folder of another user (skipped: needs root)',
      'mkdir "$HOME/.cache"; chown 65534 "$HOME/.cache"',
    ],
  ])('is off with %s: nothing is written, deleted or run', async ([, plant, xdg], context) => {
    if (plant.includes('chown') && !isRoot) context.skip();
    // A folder as an attacker wants it emptied: with old files in the places of compiled code.
    const world = temporaryDirectory();
    const victim = path.join(world, 'victim');
    const HOME = path.join(world, 'home');
    mkdirSync(HOME, { mode: 0o700 });
    for (const name of ['id_rsa', 'imgctl/compiled/shadow', 'compiled/main-12345678.cjs.4711']) {
      const file = path.join(victim, name);
      mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, 'secret');
      utimesSync(file, 0, 0);
    }
    const env = { HOME, PATH: process.env.PATH ?? '' };
    execFileSync('sh', ['-ec', plant], { cwd: victim, env });
    const before = treeOf(world);
    const cache = xdg === undefined ? {} : { XDG_CACHE_HOME: path.join(victim, xdg) };
    expect(await run({ ...env, ...cache })).toMatchObject({ stderr: '', exitCode: 0 });
    expect(treeOf(world)).toEqual(before);
  });

  it('is off without a home, even if the working directory was removed', async () => {
    const prelude = 'unset HOME; mkdir gone; cd gone; rmdir ../gone';
    expect(await run(freshHome(), prelude)).toMatchObject({ stderr: '', exitCode: 0 });
  });

  it('is used by the next run, which leaves older files alone', async () => {
    const env = freshHome();
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(path.join(folder, 'main-12345678.cjs.4711'), 'old');
    const result = await run(env);
    const stored = treeOf(folder);
    expect(stored.length).toBeGreaterThan(3);
    // What V8 rejects would be stored again.
    expect(await run(env)).toEqual(result);
    expect(treeOf(folder)).toEqual(stored);
  });

  it('is replaced if it is damaged, and leaves nothing half written on a full disk', async () => {
    const env = freshHome();
    const result = await run(env);
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    const names = readdirSync(folder);
    const file = path.join(folder, names.find((name) => name.startsWith('main-')) ?? '');
    const good = readFileSync(file);
    writeFileSync(file, good.fill(0, 20_000));
    const damaged = treeOf(folder);
    expect(await run(env, 'ulimit -f 20')).toEqual(result);
    expect(treeOf(folder)).toEqual(damaged);
    expect(await run(env)).toEqual(result);
    expect(readFileSync(file).equals(good)).toBe(false);
    expect(readdirSync(folder)).toEqual(names);
  });
});
