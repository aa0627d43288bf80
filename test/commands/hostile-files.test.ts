// JSON files that would overflow a parser or fill the memory: one line with the name of the file, and exit 2.

import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { catalogueOf, testImages } from '../support/catalogue-page.ts';
import { failed, temporaryDirectory } from '../support/io.ts';
import { localUser, scriptedUser } from '../support/users.ts';

const DEPTH = 200_000;
const [OPEN, CLOSE] = ['['.repeat(DEPTH), ']'.repeat(DEPTH)];
const CONTENTS: readonly (readonly [string, string | Buffer])[] = [
  ['opening brackets', OPEN],
  ['opening braces', '{"a":'.repeat(DEPTH)],
  ['a member with deep arrays', `{"version":1,"images":{},"other":${OPEN}${CLOSE}}`],
  [
    'deep images',
    `{"version":1,"taken_at":"2026-01-01","base_url":"x","images":[\n${OPEN}${CLOSE}\n]}\n`,
  ],
  ['deep profiles', `{"profiles":{"default":${OPEN}${CLOSE}}}`],
  ['a cut object', '{"version":1,"images":{"a'],
  [
    'keys that stand twice',
    '{"version":1,"images":{},"images":{"a":1},"profiles":{},"profiles":{"a":{}}}',
  ],
  ['UTF-16', Buffer.from('\ufeff{"version":1}', 'utf16le')],
];

describe.each(CONTENTS)('a file of %s', (_what, content) => {
  it.each([
    ['images list --from file.json', 'file.json'],
    ['images changes --since-file file.json', 'file.json'],
    ['images lock check --file file.json', 'file.json'],
    ['config list', 'config.json'],
    ['sync-status', 'sync-history.json'],
    ['sync-status --list', 'sync-history.json'],
  ])('is exit 2 with its name for %s', async (line, name) => {
    const { imgctl, directory } = localUser(undefined, {
      IMGCTL_BASE_URL: 'http://127.0.0.1:9',
      IMGCTL_TOKEN: 'T',
    });
    fs.writeFileSync(path.join(directory, name), content);
    const { stderr, exitCode, stdout } = await imgctl(line);
    expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(name);
    expect(stderr).not.toContain('[[[');
  });
});

it('images snapshot compresses a file whose name ends with .gz, which --from reads', async () => {
  const { imgctl } = await scriptedUser(catalogueOf(testImages(3)));
  const cwd = temporaryDirectory();
  await imgctl('images snapshot all.json', { cwd });
  expect((await imgctl('images snapshot all.json.gz', { cwd })).exitCode).toBe(0);
  const [plain, packed] = ['all.json', 'all.json.gz'].map((name) =>
    fs.readFileSync(path.join(cwd, name)),
  );
  expect(gunzipSync(packed ?? '')).toEqual(plain);
  const listed = await imgctl('images list --from all.json.gz --get id', { cwd });
  expect(listed.stdout.split('\n')).toHaveLength(4);
  fs.writeFileSync(path.join(cwd, 'cut.json.gz'), packed?.subarray(0, -9) ?? '');
  const refused = (name: string, problem: string) =>
    failed(2, `imgctl: cannot read the snapshot ${name}: ${problem}\n`);
  const save = 'hint: save a new one with: imgctl images snapshot cut.json.gz';
  expect(await imgctl('images list --from cut.json.gz', { cwd })).toEqual(
    refused('cut.json.gz', `its gzip data is damaged\n${save}`),
  );
  expect(await imgctl('images list --from .', { cwd })).toEqual(
    refused('.', 'it is a folder\nhint: use the name of a regular file'),
  );
});
