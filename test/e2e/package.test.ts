// The package that npm publishes: its files and its installation without network and scripts.

import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/documents.ts';

const LICENCES = 'THIRD-PARTY-LICENSES.txt';

let folder: string;
let packed: { filename: string; version: string; unpackedSize: number; files: { path: string }[] };

/** Runs a program as a user with an empty home and returns its output. */
async function execute(cwd: string, program: string, ...args: string[]): Promise<string> {
  const env = { HOME: path.join(folder, 'home'), PATH: process.env.PATH };
  // On Windows, npm is a script.
  const shell = process.platform === 'win32';
  return (await promisify(execFile)(program, args, { cwd, env, shell })).stdout;
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'imgctl-package-'));
  const options = ['--ignore-scripts', '--json', '--pack-destination', folder];
  const [result] = JSON.parse(await execute(ROOT, 'npm', 'pack', ...options));
  packed = result;
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('the package', () => {
  it('contains the program and its documents only, at most 2.6 MB', () => {
    const names = packed.files.map((file) => file.path);
    const documents = ['package.json', 'README.md', 'CHANGELOG.md', 'LICENSE', LICENCES];
    const program = ['bin/imgctl.js', 'dist/main.cjs', 'dist/man/imgctl.1'];
    const library = ['dist/library.cjs', 'dist/types/library/index.d.ts'];
    expect(names).toEqual(expect.arrayContaining([...program, ...library, ...documents]));
    const others = names.filter((name) => !documents.includes(name));
    expect(others.filter((name) => !/^(bin|dist|completions)\//.test(name))).toEqual([]);
    expect(packed.unpackedSize).toBeLessThanOrEqual(2_600_000);
  });

  it('has types that need no esModuleInterop', () => {
    const read = new Set<string>();
    const visit = (file: string) => {
      if (read.has(file)) return;
      read.add(file);
      const text = readFileSync(file, 'utf8');
      expect(text, file).not.toMatch(/^import (?:type )?\w+ from 'node:/m);
      for (const [, name = ''] of text.matchAll(/from '(\.[^']+)\.ts'/g))
        visit(path.join(path.dirname(file), `${name}.d.ts`));
    };
    visit(path.join(ROOT, 'dist/types/library/index.d.ts'));
    expect(read.size).toBeGreaterThan(5);
  });

  it('has no dependencies and no installation scripts', () => {
    const manifest = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
    const { dependencies, optionalDependencies, peerDependencies } = manifest;
    expect({ ...dependencies, ...optionalDependencies, ...peerDependencies }).toEqual({});
    const scripts = Object.keys(manifest.scripts);
    expect(scripts.filter((name) => /^((pre|post)?install|prepare)$/.test(name))).toEqual([]);
  });

  const onUnix = it.skipIf(process.platform === 'win32');
  onUnix('installs offline without others (only on Unix)', async () => {
    const prefix = path.join(folder, 'prefix');
    const options = ['--global', '--offline', '--ignore-scripts', '--prefix', prefix];
    await execute(folder, 'npm', 'install', ...options, path.join(folder, packed.filename));
    expect(readdirSync(path.join(prefix, 'lib/node_modules'))).toEqual(['imgctl']);
    expect(readdirSync(path.join(prefix, 'lib/node_modules/imgctl'))).not.toContain('node_modules');
    expect(readFileSync(path.join(prefix, 'share/man/man1/imgctl.1'), 'utf8')).toContain('IMGCTL');
    const program = path.join(prefix, 'bin/imgctl');
    expect(await execute(folder, program, '--version')).toBe(`${packed.version}\n`);
    expect(await execute(folder, program, 'images', 'list', '--help')).toContain('Usage: imgctl');
  });

  // Each build writes the file.
  it('names the licence of every bundled package', () => {
    const text = readFileSync(path.join(ROOT, LICENCES), 'utf8');
    for (const name of ['commander', 'conf', 'saxes', 'undici']) {
      expect(text).toMatch(new RegExp(`^${name} [\\d.]+ \\((MIT|ISC)\\)$`, 'm'));
    }
  });
});
