// The Debian package: its content, and that it runs.

import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import manifest from '../../package.json' with { type: 'json' };
import { temporaryDirectory } from '../support/io.ts';
import { freshHome } from '../support/users.ts';

const { IMGCTL_DEB } = process.env;
const DEB = path.resolve(IMGCTL_DEB || '.');

/** The files of the package, in the order of their names. */
const FILES = [
  ...['bin/imgctl', 'share/bash-completion/completions/imgctl', 'share/doc/imgctl/changelog.gz'],
  ...['share/doc/imgctl/copyright', 'share/fish/vendor_completions.d/imgctl.fish'],
  ...['share/man/man1/imgctl.1.gz', 'share/zsh/vendor-completions/_imgctl'],
].map((file) => `usr/${file}`);

describe.skipIf(!IMGCTL_DEB)('the Debian package (only with IMGCTL_DEB)', () => {
  it('contains the program, its man page and completions, which only root can write', () => {
    const lines = execFileSync('dpkg-deb', ['--contents', DEB], { encoding: 'utf8' });
    const entries = lines.trim().split('\n');
    const files = entries.filter((line) => !line.startsWith('d'));
    const names = files.map((line) => line.split(/\s+/)[5]?.replace('./', ''));
    expect(names.sort()).toEqual(FILES);
    for (const line of entries) {
      expect(line).toMatch(/^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x(?=.*bin\/imgctl$)) root\/root /);
    }
  });

  it('states its version, its size and the libraries that the program is linked with', () => {
    const text = execFileSync('dpkg-deb', ['--field', DEB], { encoding: 'utf8' });
    expect(text).toContain(`Version: ${manifest.version}\n`);
    expect(text).toMatch(/^Depends: libc6 \(>= \S+\), libgcc-s1 \(>= \S+\), libstdc\+\+6 \(/m);
    expect(text).toMatch(/^Installed-Size: \d{5,6}$/m);
  });

  it('runs from where it is unpacked', () => {
    const root = temporaryDirectory();
    execFileSync('dpkg-deb', ['--extract', DEB, root]);
    const imgctl = (...args: string[]) =>
      String(execFileSync(path.join(root, 'usr/bin/imgctl'), args, { env: freshHome() }));
    expect(imgctl('--version')).toBe(`${manifest.version}\n`);
    expect(imgctl('demo')).toMatch(/^\d+ +sample\.ova /m);
  });
});
