// The launcher stores what V8 compiled, and uses it in later runs.

import { spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { COMMAND, type Environment, issue, runBuilt, scriptedService } from '../support/cli.ts';
import { modeOf } from '../support/files.ts';

/** The chunks of every listing. */
const NEEDED = ['client', 'images-list', 'listing', 'main'];

function chunkOf(file: string): string {
  return path.basename(file).replace(/-[\w-]{8}\.cjs$/, '');
}

/** A user of a service, and the files of the code cache. */
async function newUser(count = 3) {
  const images = testImages(count);
  const { user } = await scriptedService(({ url }) =>
    url.pathname === '/v2/image' ? { json: cataloguePage(url, images) } : issue('T1'),
  );
  const root = path.join(user.HOME, '.cache');
  const folder = path.join(
    root,
    `imgctl/compiled/${process.version}-${process.platform}-${process.arch}`,
  );
  const files = () => readdirSync(folder).map((name) => path.join(folder, name));
  const needed = () => files().filter((file) => NEEDED.includes(chunkOf(file)));
  const written = () => files().map((file) => [file, statSync(file).mtimeMs]);
  return { env: user, root, folder, needed, written };
}

async function list(env: Environment): Promise<void> {
  const result = await runBuilt(['images', 'list', '-o', 'ndjson'], { env });
  expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  expect(result.stdout).toContain('"id":1,');
}

// An executable contains its compiled code.
describe.skipIf(COMMAND.length === 1)('the code cache', () => {
  it('is made by the first run in a new home, for its owner alone', async () => {
    const { env, root, folder, needed } = await newUser();
    await list(env);
    expect(needed().map(chunkOf).sort()).toEqual(NEEDED);
    expect([root, folder].map(modeOf)).toEqual(['700', '700']);
    expect(new Set(needed().map(modeOf))).toEqual(new Set(['600']));
  });

  it.each([3, 2_500])('is accepted by the second run, a list of %i images', async (count) => {
    const { env, written } = await newUser(count);
    await list(env);
    const before = written();
    await list(env);
    expect(written()).toEqual(before);
  });

  it('also holds what another command needs of the same chunk', async () => {
    const { env, needed } = await newUser();
    await runBuilt(['--help'], { env });
    const sizeOfMain = () => statSync(needed().at(-1) ?? '').size;
    expect(needed().map(chunkOf)).toEqual(['main']);
    const before = sizeOfMain();
    await list(env);
    expect(sizeOfMain()).toBeGreaterThan(before);
  });

  it.each([
    ['damaged', (bytes: Buffer) => bytes.fill(0x55, 5_000, 5_100)],
    ['filled with zeros', (bytes: Buffer) => bytes.fill(0)],
    ['truncated', (bytes: Buffer) => bytes.subarray(0, bytes.length - 8)],
    ['truncated to an odd length', (bytes: Buffer) => bytes.subarray(0, 1_001)],
    ['empty', () => Buffer.alloc(0)],
  ])('is replaced if its files are %s', async (_state, change) => {
    const { env, needed, written } = await newUser();
    await list(env);
    for (const file of needed()) writeFileSync(file, change(readFileSync(file)));
    const contents = () => needed().map((file) => readFileSync(file));
    const broken = contents();
    await list(env);
    for (const [at, bytes] of contents().entries()) expect(bytes).not.toEqual(broken[at]);
    const repaired = written();
    await list(env);
    expect(written()).toEqual(repaired);
  });

  it.each([
    ['named pipes', (file: string) => spawnSync('mkfifo', [file])],
    ['links', (file: string) => symlinkSync('/etc/hostname', file)],
  ])('is replaced if its files are %s', async (_kind, make) => {
    const { env, needed } = await newUser();
    await list(env);
    for (const file of needed()) {
      rmSync(file);
      make(file);
    }
    await list(env);
    expect(needed().filter((file) => !lstatSync(file).isFile())).toEqual([]);
  });

  it('is freed of what a killed run left', async () => {
    const { env, folder } = await newUser();
    mkdirSync(folder, { recursive: true });
    const left = path.join(folder, 'main-12345678.cjs.4711');
    writeFileSync(left, '');
    utimesSync(left, 0, 0);
    await list(env);
    expect(existsSync(left)).toBe(false);
  });

  it('is not used if it is another user’s', async (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can give files away');
    const { env, needed } = await newUser();
    await list(env);
    for (const file of needed()) chownSync(file, 65_534, 65_534);
    await list(env);
    expect(new Set(needed().map((file) => statSync(file).uid))).toEqual(new Set([0]));
  });

  it('is not made in another user’s home', async (context) => {
    if (process.getuid?.() !== 0) context.skip('only root can give files away');
    const { env, root } = await newUser();
    chownSync(env.HOME, 65_534, 65_534);
    await runBuilt(['--help'], { env });
    expect(existsSync(root)).toBe(false);
  });

  it('is off with NODE_DISABLE_COMPILE_CACHE=1', async () => {
    const { env, folder } = await newUser();
    await list({ ...env, NODE_DISABLE_COMPILE_CACHE: '1' });
    expect(existsSync(folder)).toBe(false);
  });

  it('is not needed: without a home, the program runs as well', async () => {
    const { env } = await newUser();
    const { exitCode } = await runBuilt(['--help'], { env: { PATH: env.PATH } });
    expect(exitCode).toBe(0);
  });

  it('is made by no run that fails', async () => {
    const { env, root } = await newUser();
    expect((await runBuilt(['images', 'lst'], { env })).exitCode).toBe(2);
    expect(existsSync(root)).toBe(false);
  });

  it('is whole after ten first runs at once', async () => {
    const { env, folder, written } = await newUser();
    await Promise.all(Array.from({ length: 10 }, () => list(env)));
    const before = written();
    await list(env);
    expect(written()).toEqual(before);
    expect(readdirSync(folder).filter((name) => !name.endsWith('.cjs'))).toEqual([]);
  });
});
