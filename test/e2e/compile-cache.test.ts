// Where the launcher lets Node store compiled code, and where it leaves everything as it is.

import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import module from 'node:module';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { COMMAND, type Environment, freshHome, runBuilt, scriptedService } from '../support/cli.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';

/** Runs the program and returns the folder that it gives to Node; undefined if it gives none. */
async function cacheFolder(env: Environment): Promise<string | undefined> {
  const seen = path.join(temporaryDirectory(), 'folder');
  const hook = path.join(temporaryDirectory(), 'hook.cjs');
  // Node 20 has no compile cache, and others only report its folder if they can use it.
  writeFileSync(
    hook,
    `const { enableCompileCache: own } = require('node:module');
     require('node:module').enableCompileCache = (folder) => {
       require('node:fs').writeFileSync(${JSON.stringify(seen)}, String(folder));
       return own?.(folder);
     };`,
  );
  const hooked = { ...env, NODE_OPTIONS: `--require=${hook}` };
  const { exitCode, stderr } = await runBuilt(['images', 'list', '--help'], { env: hooked });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  try {
    return readFileSync(seen, 'utf8');
  } catch {
    return undefined;
  }
}

/** A folder as an attacker wants it emptied: with old files in the places of compiled code. */
function folderOfVictim(): string {
  const folder = temporaryDirectory();
  for (const name of ['id_rsa', 'imgctl/compiled/shadow', 'compiled/main-12345678.cjs.4711']) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, 'secret');
    utimesSync(file, 0, 0);
  }
  return folder;
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
describe.skipIf(COMMAND.length === 1)('the compile cache', () => {
  it('is below ~/.cache, for its owner alone', async () => {
    const env = freshHome();
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    expect(await cacheFolder(env)).toBe(folder);
    expect([path.join(env.HOME, '.cache'), folder].map(modeOf)).toEqual(['700', '700']);
  });

  it('is below XDG_CACHE_HOME if that is an absolute path', async () => {
    const env = freshHome();
    const XDG_CACHE_HOME = path.join(env.HOME, 'var/cache');
    mkdirSync(path.dirname(XDG_CACHE_HOME));
    expect(await cacheFolder({ ...env, XDG_CACHE_HOME })).toBe(`${XDG_CACHE_HOME}/imgctl/compiled`);
    const relative = await cacheFolder({ ...env, XDG_CACHE_HOME: 'var' });
    expect(relative).toBe(`${env.HOME}/.cache/imgctl/compiled`);
  });

  const isRoot = process.getuid?.() === 0;
  const stranger = (folder: string) => chownSync(folder, 65_534, 65_534);
  it.for<readonly [string, (home: string, victim: string) => Environment, boolean?]>([
    [
      'a link planted in a folder outside of HOME',
      (_home, victim) => {
        const shared = temporaryDirectory();
        chmodSync(shared, 0o777);
        symlinkSync(victim, path.join(shared, 'imgctl'));
        return { XDG_CACHE_HOME: shared };
      },
    ],
    ['XDG_CACHE_HOME outside of HOME', (_home, victim) => ({ XDG_CACHE_HOME: victim })],
    [
      'a link at ~/.cache',
      (home, victim) => {
        symlinkSync(victim, path.join(home, '.cache'));
        return {};
      },
    ],
    [
      'a link at ~/.cache/imgctl/compiled',
      (home, victim) => {
        mkdirSync(path.join(home, '.cache/imgctl'), { recursive: true });
        symlinkSync(victim, path.join(home, '.cache/imgctl/compiled'));
        return {};
      },
    ],
    [
      'a link at HOME',
      (home) => {
        const link = path.join(temporaryDirectory(), 'home');
        symlinkSync(home, link);
        return { HOME: link };
      },
    ],
    [
      'a folder above it that a group can write',
      (home) => {
        mkdirSync(path.join(home, '.cache'));
        chmodSync(path.join(home, '.cache'), 0o770);
        return {};
      },
    ],
    [
      'a HOME that everybody can write',
      (home) => {
        chmodSync(home, 0o777);
        return {};
      },
    ],
    [
      'a folder that others can enter',
      (home) => {
        mkdirSync(path.join(home, '.cache/imgctl/compiled'), { recursive: true });
        chmodSync(path.join(home, '.cache/imgctl/compiled'), 0o755);
        return {};
      },
    ],
    [
      'a file in its place',
      (home) => {
        writeFileSync(path.join(home, '.cache'), '');
        return {};
      },
    ],
    ['a HOME that is missing', (home) => ({ HOME: path.join(home, 'missing') })],
    ['an empty HOME', () => ({ HOME: '' })],
    ['NODE_DISABLE_COMPILE_CACHE=1', () => ({ NODE_DISABLE_COMPILE_CACHE: '1' })],
    [
      'root in the HOME of another user',
      (home) => {
        stranger(home);
        return {};
      },
      true,
    ],
    [
      'a folder of another user in HOME',
      (home) => {
        mkdirSync(path.join(home, '.cache'));
        stranger(path.join(home, '.cache'));
        return {};
      },
      true,
    ],
  ])(
    'is off with %s: nothing is written, deleted or run',
    async ([_case, plant, byRoot], context) => {
      if (byRoot && !isRoot) context.skip('only root can give files away');
      const { HOME, PATH } = freshHome();
      const victim = folderOfVictim();
      const env = { PATH, HOME, ...plant(HOME, victim) };
      const before = [treeOf(victim), treeOf(HOME)];
      expect(await cacheFolder(env)).toBe(undefined);
      expect([treeOf(victim), treeOf(HOME)]).toEqual(before);
    },
  );

  it('leaves files of other programs in its folder alone', async () => {
    const { HOME, PATH } = freshHome();
    const folder = path.join(HOME, '.cache/imgctl/compiled');
    mkdirSync(path.join(folder, process.version), { recursive: true, mode: 0o700 });
    const file = path.join(folder, process.version, 'main-12345678.cjs.4711');
    writeFileSync(file, 'old');
    utimesSync(file, 0, 0);
    expect(await cacheFolder({ HOME, PATH })).toBe(folder);
    expect(readFileSync(file, 'utf8')).toBe('old');
  });

  it.skipIf(!('enableCompileCache' in module))(
    'is filled by the first run, and unchanged and intact after the second (skipped on Node 20)',
    async () => {
      const { env } = await scriptedService(({ url }) => ({
        json: cataloguePage(url, testImages(3)),
      }));
      const list = () => runBuilt(['images', 'list', '-o', 'ndjson'], { env });
      const first = await list();
      expect(first).toMatchObject({ exitCode: 0, stderr: '' });
      const folder = path.join(env.HOME, '.cache/imgctl/compiled');
      const filled = treeOf(folder);
      expect(filled.length).toBeGreaterThan(3);
      expect(await list()).toEqual(first);
      expect(treeOf(folder)).toEqual(filled);
    },
  );

  it.skipIf(!('enableCompileCache' in module)).each([
    ['damaged', (bytes: Buffer) => bytes.fill(0x55, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
  ])('is not used if its files are %s (skipped on Node 20)', async (_state, change) => {
    const env = freshHome();
    const help = () => runBuilt(['images', 'list', '--help'], { env });
    const first = await help();
    const folder = path.join(env.HOME, '.cache/imgctl/compiled');
    const names = readdirSync(folder, { recursive: true }) as string[];
    const files = names.map((name) => path.join(folder, name));
    for (const file of files.filter((name) => lstatSync(name).isFile())) {
      writeFileSync(file, change(readFileSync(file)));
    }
    expect(await help()).toEqual(first);
  });
});
