// Where the launcher lets Node store compiled code, and where it leaves everything as it is.

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
import module from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { COMMAND, runProgram, withHook } from '../support/program.ts';
import { type Environment, freshHome } from '../support/users.ts';

/** Runs the program and returns the folder that it gives to Node; undefined if it gives none. */
async function cacheFolder(env: Environment): Promise<string | undefined> {
  // Node 20 has no compile cache, and others only report its folder if they can use it.
  const report = 'enableCompileCache = (folder) => process.stderr.write(folder);';
  const hooked = withHook(env, `require('node:module').${report}`);
  const { exitCode, stderr } = await runProgram(['images', 'list', '--help'], { env: hooked });
  expect(exitCode).toBe(0);
  return stderr || undefined;
}

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
describe.skipIf(COMMAND.length === 1)('the compile cache (only with Node)', () => {
  it('is below ~/.cache, or XDG_CACHE_HOME in HOME, for its owner alone', async () => {
    const env = freshHome();
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    expect(await cacheFolder(env)).toBe(folder);
    expect([path.join(env.HOME, '.cache'), folder].map(modeOf)).toEqual(['700', '700']);
    const XDG_CACHE_HOME = path.join(env.HOME, 'var');
    expect(await cacheFolder({ ...env, XDG_CACHE_HOME })).toBe(`${XDG_CACHE_HOME}/imgctl/compiled`);
  });

  const isRoot = process.getuid?.() === 0;
  const PARENT = '"$HOME/.cache/imgctl"';
  const COMPILED = `${PARENT}/compiled`;

  it.for<readonly [string, string, string?]>([
    ['a planted link outside of HOME', 'mkdir -m 777 s; ln -s .. s/imgctl', 's'],
    ['a link at ~/.cache/imgctl/compiled', `mkdir -p ${PARENT}; ln -s "$PWD" ${COMPILED}`],
    ['a link at HOME', 'mv "$HOME" "$HOME.real"; ln -s "$HOME.real" "$HOME"'],
    ['a folder above it that a group can write', 'mkdir -m 770 "$HOME/.cache"'],
    ['a folder that others can enter', `mkdir -p ${COMPILED}; chmod 755 ${COMPILED}`],
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
    expect(await cacheFolder({ ...env, ...cache })).toBe(undefined);
    expect(treeOf(world)).toEqual(before);
  });

  const fromNode22 = it.skipIf(!('enableCompileCache' in module));
  fromNode22('is used, and never emptied (only from Node 22 on)', async () => {
    const env = freshHome();
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const old = path.join(folder, 'main-12345678.cjs.4711');
    writeFileSync(old, 'old');
    utimesSync(old, 0, 0);
    expect(await runProgram(['--help'], { env })).toMatchObject({ stderr: '', exitCode: 0 });
    expect(readdirSync(folder, { recursive: true }).length).toBeGreaterThan(3);
    expect(readFileSync(old, 'utf8')).toBe('old');
  });
});
