// push while something else moves: files of the storage, files on the disk, and a list of images that is late.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed, fakeIo, runCli, temporaryDirectory } from '../../support/io.ts';
import type { ScriptedResponse } from '../../support/scripted-server.ts';
import { STORAGES, storageUser, uploadUser, writeOva, writeOvf } from '../../support/uploads.ts';
import { scriptedUser } from '../../support/users.ts';
import { IMAGES, REQUEST, record, SUBMIT, SUBMITTED } from './sync-harness.ts';

const FAST = '--poll-interval 500ms';

/** Replaces a file by another one with these bytes, as rename(2) does. */
function replace(file: string, content: Buffer): void {
  writeFileSync(`${file}.new`, content);
  renameSync(`${file}.new`, file);
}

describe.each(STORAGES)('push to %s that finds a file there', (kind) => {
  const NAMED = 'names it and syncs nothing';
  it.each<[string, string, (file: string) => void]>([
    ['is removed', NAMED, (file) => rmSync(file)],
    ['gets other bytes', NAMED, (file) => replace(file, Buffer.alloc(readFileSync(file).length))],
    ['gets the same bytes again', 'syncs', (file) => replace(file, readFileSync(file))],
  ])('which %s before the sync %s', async (_what, outcome, change) => {
    const user = await uploadUser(kind);
    const [first = '', second = ''] = ['web', 'db'].map((name) => writeOva(user.work, name));
    await user.imgctl(`push ${first} ${FAST}`);
    const syncs = user.syncs();
    const io = fakeIo({ env: user.env, time: Date.now() });
    const write = io.stderr.write.bind(io.stderr);
    io.stderr.write = async (text) => {
      if (text === 'db.ova: uploading\n') change(path.join(user.folder, 'web.ova'));
      await write(text);
    };
    const { stderr, exitCode } = await runCli(['push', first, second, ...FAST.split(' ')], io);
    const text =
      / no sync was submitted: \S.* has changed: web\.ova\nhint: another program changed or removed them; run the same command again\n$/;
    const [exitCodeThen, added, said] = outcome === NAMED ? [1, 0, text] : [0, 1, /./];
    expect({ exitCode, stderr, syncs: user.syncs() - syncs }).toEqual({
      exitCode: exitCodeThen,
      stderr: expect.stringMatching(said),
      syncs: added,
    });
  });
});

it.each(['dav', 's3'] as const)(
  'push to %s syncs no mixture of its package and that of another machine',
  async (kind) => {
    let moves = 0;
    let other = () => {};
    const user = await storageUser(kind, [], ({ method, target }) => {
      const isPublished =
        kind === 'dav' ? method === 'MOVE' : /^POST.*uploadId/.test(method + target);
      moves += isPublished ? 1 : 0;
      if (isPublished && moves === 4) other();
    });
    other = () => writeFileSync(path.join(user.folder, 'db-disk1.vmdk'), 'of another machine');
    const file = writeOvf(user.work, 'db');
    const result = await user.imgctl(`push ${file} ${FAST} --on-conflict replace`);
    const text = /imgctl: no sync was submitted: .* has changed: db-disk1\.vmdk\nhint: /;
    expect(result).toEqual(failed(1, text));
    expect(user.syncs()).toBe(0);
  },
);

it.each([
  ['loses the storage', 3],
  ['loses the file again', 1],
  ['finds another file', 1],
])('push that %s while it replaces one names it', async (what, exitCode) => {
  let moves = 0;
  const { storage, ...user } = await storageUser('dav', [], ({ method }) => {
    moves += method === 'MOVE' ? 1 : 0;
    if (moves < 5 || method !== 'PROPFIND') return;
    const moved = path.join(user.folder, 'db-data.iso');
    if (what === 'loses the file again') rmSync(moved, { force: true });
    else if (what === 'finds another file') writeFileSync(moved, 'of another push');
    else if ('close' in storage) void storage.close();
  });
  await user.imgctl(`push ${writeOvf(user.work, 'db', 1_000)} ${FAST}`);
  const file = writeOvf(user.work, 'db', 2_000);
  const result = await user.imgctl(`push ${file} ${FAST} --on-conflict replace`);
  const text = 'error: db.ovf failed after these files became visible: db-data.iso (perhaps)\n';
  expect(result).toEqual(failed(exitCode, text));
  expect(user.syncs()).toBe(1);
});

it.each([
  ['stored', 'MOVE', '', 'already has a different a.ova\n'],
  ['replaced', 'PROPFIND', ' --on-conflict replace', 'a.ova failed: another file replaced it\n'],
])('push syncs the others if another push has %s an OVA at %s', async (_, when, how, text) => {
  let moves = 0;
  const user = await storageUser('dav', [], ({ method }) => {
    moves += method === 'MOVE' ? 1 : 0;
    if (method === when && moves === 1)
      writeFileSync(path.join(user.folder, 'a.ova'), 'of another push');
  });
  const files = ['a', 'b'].map((name) => writeOva(user.work, name)).join(' ');
  const { stderr, exitCode } = await user.imgctl(`push ${files} ${FAST}${how}`);
  expect(stderr).toContain(text);
  expect({ exitCode, syncs: user.syncs() }).toEqual({ exitCode: 1, syncs: 1 });
});

it('push shows nothing of a package whose disk changes after it was read', async () => {
  let puts = 0;
  let change = () => {};
  const user = await storageUser('dav', [], ({ method }) => {
    puts += method === 'PUT' ? 1 : 0;
    if (method === 'PUT' && puts === 2) change();
  });
  const file = writeOvf(user.work, 'db');
  change = () => writeFileSync(path.join(path.dirname(file), 'db-disk1.vmdk'), 'changed');
  const result = await user.imgctl(`push ${file} ${FAST}`);
  expect(result).toEqual(
    failed(1, 'db-disk1.vmdk changed while it was uploaded\nhint: wait until'),
  );
  expect({ stored: user.stored(), syncs: user.syncs() }).toEqual({ stored: [], syncs: 0 });
});

describe('push whose list of images is late after the sync', () => {
  const listOf = (...entries: [name: string, time: string][]): ScriptedResponse => {
    const data = entries.map(([name, updated_on], index) => ({ id: index + 1, name, updated_on }));
    return { json: { data, meta: { count: data.length } } };
  };
  const OLD = listOf(['old.ova', '1']);
  const NEW = listOf(['old.ova', '1'], ['web.ova', '2']);
  const times = (count: number, list: ScriptedResponse) =>
    Array.from({ length: count }, () => list);

  /** @param lists before the push, and then each time that it asks @param fields of the record of the sync */
  const setUp = async (lists: readonly ScriptedResponse[], fields = {}, name = 'web') => {
    const user = await scriptedUser({
      [IMAGES]: lists,
      [SUBMIT]: SUBMITTED,
      [REQUEST]: record({ status: 'PROCESSED', message: { errors: [] }, ...fields }),
    });
    const file = writeOva(temporaryDirectory(), name);
    const line = `push ${file} --to ${temporaryDirectory()} --get name`;
    const push = (options = '') => user.imgctl(`${line} ${options}`.trim());
    const onTerminal = (options = '') =>
      user.imgctl(`${line} ${options}`.trim(), { errorColumns: 200 });
    return { ...user, push, onTerminal, line };
  };
  const MISSING =
    /imgctl: your list has no image named web\.ova\nhint: .*sync-status 41; if nothing, .* reads folder \/.+\n$/;
  const LATE =
    'added, but not in your list yet: web.ova\nhint: list them later with: imgctl my-images\n';
  const WARNED = failed(0, `imgctl: warning: ${LATE}`);

  it.each([
    ['an image that is missing for 9 s', [OLD, ...times(9, OLD), NEW]],
    ['a replaced image that is as before for 9 s', [...times(10, listOf(['web.ova', '1'])), NEW]],
  ])('waits for %s', async (_what, lists) => {
    const { push, requests } = await setUp(lists);
    expect(await push('--strict')).toMatchObject({
      exitCode: 0,
      stdout: 'web.ova\n',
    });
    const asked = requests().filter((request) => request === IMAGES);
    expect(asked).toHaveLength(lists.length);
  });

  it.each([
    ['is not in the record', { added: ['xweb.ova', 'web.ova.part'] }, '', failed(1, MISSING)],
    ['is in the record', { added: [{ name: 'web.ova' }] }, '', WARNED],
    ['is in the record', { added: ['web.ova'] }, '--strict', failed(1, `imgctl: ${LATE}`)],
  ])('gives up after 10 s: %s %j %s', async (_what, fields, options, expected) => {
    const { push, onTerminal, requests } = await setUp([OLD], fields);
    expect(await push(options)).toEqual(expected);
    expect(requests().filter((request) => request === IMAGES)).toHaveLength(12);
    if (expected !== WARNED) return;
    // On a terminal, with a mark for the warning.
    expect((await onTerminal(options)).stderr).toMatch(/\n! 1 image added\n$/);
  });

  it('sees no change if two images of one name are listed in another order', async () => {
    const rows: [string, string][] = [
      ['web.ova', '1'],
      ['web.ova', '2'],
    ];
    const { push } = await setUp([listOf(...rows), listOf(...rows.toReversed())]);
    expect(await push('--strict')).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('unchanged after the upload'),
    });
  });

  it('names an image by its id in --dry-run if it has no name', async () => {
    const { push } = await setUp([{ json: { data: [{ id: 7 }], meta: { count: 1 } } }]);
    expect((await push('--dry-run')).stdout).toBe('web.ova\nweb.ova\n7\n');
  });

  it('knows an image whose name has another Unicode form', async () => {
    const lists = [listOf(), listOf(['\u00e9.ova', '2'])];
    const { push } = await setUp(lists, {}, 'e\u0301');
    expect(await push('--strict')).toMatchObject({ exitCode: 0, stdout: '\u00e9.ova\n' });
    expect((await push('--dry-run')).stdout).toBe('e\u0301.ova\n');
    const errors = { message: { errors: ['\u00e9.ova: too old'] } };
    const refused = await setUp(lists, errors, 'e\u0301');
    expect((await refused.push()).stderr).toContain(
      'imgctl: error: sync 41: \u00e9.ova: too old\n',
    );
    const late = await setUp([listOf()], { added: ['\u00e9.ova'] }, 'e\u0301');
    expect((await late.push()).stderr).toContain('added, but not in your list yet: e\u0301.ova');
  });

  it('asks once if it shows no times', async () => {
    const list = { json: { data: [{ id: 1, name: 'web.ova' }], meta: { count: 1 } } };
    const { push, requests } = await setUp([list]);
    expect(await push('--strict')).toMatchObject({ exitCode: 0, stdout: 'web.ova\n' });
    expect(requests().filter((request) => request === IMAGES)).toHaveLength(2);
  });

  it.each([
    ['late', [OLD], { added: ['web.ova'] }],
    ['in time, but errors are unknown,', [OLD, NEW], { message: {} }],
  ])('if %s does not count as synced for --sync-if-sent', async (_what, lists, fields) => {
    const { push, requests } = await setUp(lists, fields);
    await push();
    await push('--sync-if-sent');
    expect(requests().filter((request) => request.startsWith('PATCH'))).toHaveLength(2);
  });

  it('does not wait for one that an error of the sync is about', async () => {
    const { push, requests } = await setUp([OLD], { message: { errors: ['web.ova: too old'] } });
    expect(await push()).toMatchObject({ exitCode: 1 });
    expect(requests().filter((request) => request === IMAGES)).toHaveLength(2);
  });

  it('says that the sync succeeded if it is interrupted then', async () => {
    const { env, line } = await setUp([OLD]);
    const io = fakeIo({ env });
    const write = io.stderr.write.bind(io.stderr);
    io.stderr.write = async (text) => {
      await write(text);
      if (text === 'sync 41: PROCESSED\n') io.interrupt();
    };
    expect(await runCli(line.split(' '), io)).toEqual(
      failed(130, 'imgctl: interrupted; sync 41 succeeded\n'),
    );
  });

  it('says that the sync succeeded if the list fails', async () => {
    const { push } = await setUp([OLD, { status: 403, json: { message: 'no' } }]);
    expect(await push()).toEqual(
      failed(4, /imgctl: sync 41 succeeded, but the service says: no\n/),
    );
  });
});
