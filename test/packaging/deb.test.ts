// The Debian package: its content, and that it installs, runs and is removed without a trace.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { freshHome } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const DEB = path.resolve(process.env.IMGCTL_DEB || ROOT);
const HAS_DPKG = spawnSync('dpkg-deb', ['--version']).error === undefined;

/** Returns why the tests are skipped, or ''. */
function reasonToSkip(): string {
  if (!process.env.IMGCTL_DEB)
    return 'skipped: IMGCTL_DEB names none; npm run test:executable does';
  return HAS_DPKG ? '' : 'skipped: no dpkg-deb here';
}

/** The files of a .deb, without the dot before their paths. */
const FILES = [
  'usr/bin/imgctl',
  'usr/share/bash-completion/completions/imgctl',
  'usr/share/doc/imgctl/changelog.gz',
  'usr/share/doc/imgctl/copyright',
  'usr/share/fish/vendor_completions.d/imgctl.fish',
  'usr/share/lintian/overrides/imgctl',
  'usr/share/zsh/vendor-completions/_imgctl',
];

it('tools/deb.mjs says what is missing, without a stack trace', () => {
  const { stderr, status } = spawnSync(process.execPath, ['tools/deb.mjs', 'nope'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const message = 'no executable for nope in build/\nhint: build them with: npm run executables\n';
  expect({ stderr, status }).toEqual({ stderr: message, status: 1 });
});

const REASON = reasonToSkip();

describe.skipIf(REASON !== '')(`the Debian package ${REASON}`, () => {
  it('contains the program, man pages and completions, which only root can write', () => {
    const lines = execFileSync('dpkg-deb', ['--contents', DEB], { encoding: 'utf8' });
    const entries = lines
      .trim()
      .split('\n')
      .map((line) => {
        const [mode = '', owner, , , , name = ''] = line.split(/\s+/);
        return { mode, owner, name: name.replace('./', '') };
      });
    const pages = readdirSync(path.join(ROOT, 'man')).map(
      (page) => `usr/share/man/man${page.slice(-1)}/${page}.gz`,
    );
    const files = entries.filter(({ mode }) => !mode.startsWith('d'));
    expect(files.map(({ name }) => name).sort()).toEqual([...FILES, ...pages].sort());
    for (const { mode, owner, name } of entries) {
      const expected = name === 'usr/bin/imgctl' ? '-rwxr-xr-x' : '-rw-r--r--';
      const right = mode.startsWith('d') ? 'drwxr-xr-x' : expected;
      expect({ name, mode, owner }).toEqual({ name, mode: right, owner: 'root/root' });
    }
  });

  it('states its size and the libraries that the program is linked with', () => {
    const field = (name: string) =>
      execFileSync('dpkg-deb', ['--field', DEB, name], { encoding: 'utf8' }).trim();
    expect(field('Version')).toBe(manifest.version);
    expect(field('Depends')).toMatch(/^libc6 \(>= \S+\), libgcc-s1 \(>= \S+\), libstdc\+\+6 \(/);
    expect(Number(field('Installed-Size'))).toBeGreaterThan(50_000);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'installs into a folder, runs from there, and leaves nothing when removed (skipped unless root)',
    () => {
      const root = temporaryDirectory();
      const state = path.join(root, 'var/lib/dpkg');
      for (const name of ['info', 'updates', 'triggers']) {
        mkdirSync(path.join(state, name), { recursive: true });
      }
      writeFileSync(path.join(state, 'status'), '');
      const log = path.join(temporaryDirectory(), 'dpkg.log');
      const dpkg = (...args: string[]) =>
        // The libraries that it depends on are the system's, not the folder's.
        execFileSync('dpkg', [`--root=${root}`, `--log=${log}`, '--force-depends', ...args], {
          encoding: 'utf8',
          env: { PATH: `${process.env.PATH}:/usr/sbin:/sbin` },
          stdio: 'pipe',
        });

      dpkg('--install', DEB);
      const program = path.join(root, 'usr/bin/imgctl');
      const run = (...args: string[]) =>
        execFileSync(program, args, { encoding: 'utf8', env: freshHome(), stdio: 'pipe' });
      expect(run('--version')).toBe(`${manifest.version}\n`);
      expect(run('demo')).toMatch(/^\d+ +sample\.ova /m);
      dpkg('--verify', 'imgctl');

      dpkg('--purge', 'imgctl');
      expect(readdirSync(root)).toEqual(['var']);
      expect(readdirSync(path.join(root, 'var/lib'))).toEqual(['dpkg']);
      expect(readdirSync(path.join(state, 'info')).filter((name) => /imgctl/.test(name))).toEqual(
        [],
      );
    },
  );
});
