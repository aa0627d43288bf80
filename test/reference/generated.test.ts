// Files generated from the command tree are up to date; `npm run generate` writes them by this same test.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { referenceFiles } from '../../src/reference/index.ts';
import { ownProgram } from './tree.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
/** Folders that hold generated files alone. */
const FOLDERS: readonly string[] = ['completions', 'man'];

let files: ReadonlyMap<string, string>;

beforeAll(async () => {
  files = await referenceFiles(await ownProgram());
});

it('each is as the command tree makes it now', async () => {
  for (const [name, text] of files) {
    await expect(text, `${name}: run npm run generate`).toMatchFileSnapshot(path.join(ROOT, name));
  }
});

it('none is left of a command that is no more', () => {
  const present = FOLDERS.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder)).map((name) => `${folder}/${name}`),
  );
  expect(present.filter((name) => !files.has(name))).toEqual([]);
});
