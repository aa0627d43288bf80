// push: check, upload, one sync, the new images; reruns, conflicts and refusals, with a folder as the storage.

import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { hasErrorOf } from '../../../src/commands/packages/sync/problems.ts';
import { envelope } from '../../ovf/harness.ts';
import { certificateFile, selfSigned } from '../../support/certificate.ts';
import { flipByte } from '../../support/files.ts';
import {
  type FakeIoOptions,
  failed,
  fakeIo,
  fakeTerminal,
  runCli,
  temporaryDirectory,
} from '../../support/io.ts';
import { unixOnly } from '../../support/platform.ts';
import { expectSteps } from '../../support/steps.ts';
import {
  copyOvf,
  folderUser,
  SECRETS,
  storageUser,
  writeOva,
  writeOvf,
} from '../../support/uploads.ts';
import { configDirectory, PASSWORD, scriptedUser } from '../../support/users.ts';
import { IMAGES, images, REQUEST, record, SUBMIT, SUBMITTED } from './sync-harness.ts';

const FAST = '--poll-interval 500ms';
const DB = ['db-data.iso', 'db-disk1.vmdk', 'db.mf', 'db.ovf'];
const NOTHING = { stored: [], syncs: 0 };

/** A user with a folder as the storage and a package web.ova; `left` is what a push left behind. */
async function createUser(options?: Parameters<typeof folderUser>[0]) {
  const user = await folderUser(options);
  const file = writeOva(user.work, 'web');
  const push = (options = FAST, files = file) => user.imgctl(`push ${files} ${options}`);
  const left = () => ({ stored: user.stored(), syncs: user.syncs() });
  const onTerminal = (options: string) =>
    runCli(['push', file, ...options.split(' ')], {
      env: { ...user.env, ...PASSWORD },
      errorColumns: 120,
      time: Date.now(),
    });
  return { ...user, file, push, onTerminal, left };
}

describe('push', () => {
  it('uploads packages, an OVF with its files, syncs once and prints the new images', async () => {
    const { push, work, file, left } = await createUser();
    const { stdout, stderr } = await push(`${FAST} --json`, `${file} ${writeOvf(work, 'db')}`);
    expect(JSON.parse(stdout)).toMatchObject([
      { name: 'db.ovf', public: false },
      { name: 'web.ova' },
    ]);
    expect(left()).toEqual({ stored: [...DB, 'web.ova'], syncs: 1 });
    const order = [...stderr.matchAll(/"message":"(\S+): uploaded/g)].map(([, name]) => name);
    expect(order).toEqual(['web.ova', 'db-disk1.vmdk', 'db-data.iso', 'db.mf', 'db.ovf']);
  });

  it('uploads and submits nothing in an unknown format', async () => {
    const { imgctl, file, left } = await createUser();
    expect((await imgctl(`IMGCTL_OUTPUT=xml push ${file} ${FAST}`)).exitCode).toBe(2);
    expect(left()).toEqual(NOTHING);
  });

  it('needs no service and no place for its own files with --no-sync', async () => {
    const { imgctl, work, folder, left, requests } = await createUser();
    const home = { IMGCTL_CONFIG_DIR: undefined, HOME: temporaryDirectory() };
    const line = `push ${writeOva(work, 'Web')} --to file://${folder} --no-sync -o csv`;
    const { stdout, stderr } = await imgctl(line, { ...home, XDG_STATE_HOME: '/dev/null/x' });
    expect(stderr).toMatch(/^Web\.ova: uploading\nimgctl: Web\.ova: uploaded, \S+ \S+\n$/);
    expect(stdout).toMatch(/^name,size,state\r?\nWeb\.ova,\d+,uploaded\r?\n$/);
    expect({ left: left(), requests }).toEqual({
      left: { stored: ['Web.ova'], syncs: 0 },
      requests: [],
    });
  });

  it('knows no id of a file that --no-sync prints', async () => {
    const { push, left } = await createUser();
    const text = "unknown field 'id' in --get 'id'\n";
    expect(await push('--no-sync --get id')).toEqual(failed(2, text));
    expect(left()).toEqual(NOTHING);
  });

  it('marks a sync with errors, which --strict makes exit 1 after the images', async () => {
    const { folder, push, onTerminal } = await createUser();
    writeFileSync(path.join(folder, 'bad.ova'), 'junk');
    expect((await onTerminal(FAST)).stderr).toMatch(
      /! sync 1: 1 error naming no pushed file\nhint: show them with: imgctl sync-status 1\n! sync 1 succeeded with 1 error: 1 image added\n$/,
    );
    const strict = / succeeded with 1 error \(--strict\)\nhint: /;
    await expectSteps(
      (options) => push(`${FAST} ${options}`),
      ['--get name', 'web.ova\n', /1 error naming no pushed file/],
      ['--get name --strict', 'web.ova\n', strict, 1],
    );
  });

  it('says that nothing changed if the service reads another folder, which --strict makes exit 1', async () => {
    const { push, work, onTerminal } = await createUser();
    expect((await push()).stderr).not.toContain('image added');
    writeOva(work, 'web', 5_000);
    const folder = temporaryDirectory();
    const { stderr, exitCode } = await onTerminal(`${FAST} --to ${folder}`);
    const hint = 'hint: check that the service reads this storage';
    const stale = `unchanged after the upload to folder ${folder}: web.ova\n${hint}\n`;
    expect(stderr).toContain(`imgctl: warning: ${stale}! 1 image unchanged\n`);
    expect(exitCode).toBe(0);
    const strict = `${FAST} --strict --get name --to ${temporaryDirectory()}`;
    const step = [strict, 'web.ova\n', /unchanged after the upload/, 1] as const;
    await expectSteps((options) => push(`${options}`), step);
  });

  it('shows the errors of its own files', async () => {
    const message = {
      errors: ['web.ova: too old', 'x.ova: bad'],
      warnings: ['y.ova: no manifest'],
    };
    const { imgctl } = await scriptedUser({
      [IMAGES]: [images('web.ova'), images('web.ova')],
      [SUBMIT]: SUBMITTED,
      [REQUEST]: record({ status: 'PROCESSED', message }),
    });
    const file = writeOva(temporaryDirectory(), 'web');
    const result = await imgctl(`push ${file} --to ${temporaryDirectory()}`);
    const { stderr } = result;
    expect(stderr).toContain('imgctl: error: sync 41: web.ova: too old\n');
    expect(stderr).toContain(
      'imgctl: warning: sync 41: 1 error and 1 warning naming no pushed file\n',
    );
    expect(stderr).not.toMatch(/x\.ova|y\.ova/);
    expect(result).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('web.ova') });
    const quiet = await imgctl(`push ${file} --to ${temporaryDirectory()} -q`);
    expect(quiet.stderr).toContain('imgctl: error: sync 41: web.ova: too old\n');
    expect(quiet.stderr).not.toContain('naming no pushed file');
  });

  it('ends with the error of a sync that failed, after how many packages failed before', async () => {
    const { imgctl, requests } = await scriptedUser({
      [IMAGES]: images(),
      [SUBMIT]: SUBMITTED,
      [REQUEST]: record({ status: 'ERROR', message: { errors: ['web.ova: too old'] } }),
    });
    const work = temporaryDirectory();
    const files = [writeOva(work, 'web'), writeOva(work, 'bad')];
    flipByte(files[1] ?? '', -5_000);
    const { stdout, stderr, exitCode } = await imgctl(
      `push ${files.join(' ')} --to ${temporaryDirectory()}`,
    );
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 1 });
    expect(stderr.split('\n').slice(-6, -1)).toEqual([
      'sync 41: ERROR',
      'imgctl: error: sync 41: web.ova: too old',
      'imgctl: error: 1 uploaded, 1 failed: bad.ova',
      'imgctl: sync request 41 failed (status: ERROR)',
      'hint: fix the files named above, upload them again, then run: imgctl sync',
    ]);
    // What it has changed is not asked.
    expect(requests().filter((request) => request === IMAGES)).toHaveLength(1);
  });

  it('warns of an image that is as before beside one that is missing, which is the error', async () => {
    const { imgctl } = await scriptedUser({
      [IMAGES]: {
        json: { data: [{ id: 1, name: 'old.ova', updated_on: '1' }], meta: { count: 1 } },
      },
      [SUBMIT]: SUBMITTED,
      [REQUEST]: record({ status: 'PROCESSED', message: { errors: [] } }),
    });
    const [work, folder] = [temporaryDirectory(), temporaryDirectory()];
    const files = ['old', 'new', 'bad'].map((name) => writeOva(work, name));
    flipByte(files[2] ?? '', -5_000);
    const { stderr, exitCode } = await imgctl(`push ${files.join(' ')} --to ${folder}`);
    expect(stderr.split('\n').slice(-7, -1)).toEqual([
      'sync 41: PROCESSED',
      `imgctl: warning: unchanged after the upload to folder ${folder}: old.ova`,
      'hint: check that the service reads this storage',
      'imgctl: error: 2 uploaded, 1 failed: bad.ova',
      'imgctl: your list has no image named new.ova',
      `hint: see what the sync reported: imgctl sync-status 41; if nothing, check that the service reads folder ${folder}`,
    ]);
    expect(exitCode).toBe(1);
  });

  it('--dry-run that is interrupted while it reads a file prints nothing', async () => {
    const { env, file } = await createUser();
    const io = fakeIo({ env });
    const elapsed = () => {
      io.interrupt();
      return 0;
    };
    const argv = ['push', file, '--no-sync', '--dry-run'];
    expect(await runCli(argv, { ...io, elapsed })).toEqual(failed(130, /^imgctl: interrupted\n/));
  });

  it('shows what it would do with --dry-run, and does nothing', async () => {
    const { push, work, file, folder, left } = await createUser();
    const same = writeOva(work, 'same');
    await push(FAST, `${writeOva(work, 'old')} ${same} ${file}`);
    rmSync(path.join(folder, 'old.ova'));
    const files = `${writeOva(work, 'web', 5000)} ${writeOva(work, 'new')} ${same}`;
    // A sync takes what is named as a package, and neither hidden files nor folders.
    for (const name of ['Own.OVA', 'zoo.ovf', 'notes.txt', '.x.ova'])
      writeFileSync(path.join(folder, name), 'junk');
    mkdirSync(path.join(folder, 'old.ova'));
    const { stdout, stderr } = await push('--dry-run --on-conflict replace -o tsv', files);
    expect(stderr).toBe('');
    expect(stdout.replaceAll('\t', ' ').replace(/ \d*$/gm, '').split('\n').slice(1, -1)).toEqual([
      'upload replace web.ova',
      'upload upload new.ova',
      'upload unchanged same.ova',
      'sync add Own.OVA',
      'sync add new.ova',
      'sync add zoo.ovf',
      'sync update web.ova',
      'sync delete old.ova',
    ]);
    const own = ['.x.ova', 'Own.OVA', 'notes.txt', 'old.ova', 'same.ova', 'web.ova', 'zoo.ovf'];
    expect(left()).toEqual({ stored: own, syncs: 1 });
    await push('--no-sync', path.join(work, 'new.ova'));
    const idle = await push('--dry-run --sync-if-sent --get step', path.join(work, 'new.ova'));
    expect(idle.stdout).toBe('upload\nsync\nsync\nsync\nsync\n');
  });

  it.each([
    ['whose response was lost', 'PATCH /v2/user/image/vm=drop,first=1', 3],
    ['that the service refused', 'PATCH /v2/user/image/vm=503,first=1', 1],
  ])('says how to check a sync %s, and submits one in the next run', async (_, fault, code) => {
    const { push, left } = await createUser({ faults: [fault] });
    const text = /: the sync may have been submitted: .*\nhint: check before you submit another: /;
    const unknown = await push();
    expect(unknown).toEqual(failed(code, text));
    expect(unknown.stderr).not.toContain('not synced');
    const { stdout, stderr } = await push(`${FAST} -o csv`);
    expect(stdout).toContain('web.ova');
    expect(stderr).toContain('imgctl: web.ova: already there\n');
    expect(left()).toEqual({ stored: ['web.ova'], syncs: 2 });
  });
});

it.each<[string, string, boolean]>([
  ['web.ova', 'web.ova: too old', true],
  ['web.ova', 'cannot read uploads/web.ova.', true],
  ['web.ova', 'error in my web.ova', true],
  ...[
    'web.ova.part',
    'web.ova_1',
    'web.ova-1',
    'web.ovas',
    'web.ova\u00e9',
    'WEB.OVA',
    'web-ova',
  ].map((text): [string, string, boolean] => ['web.ova', `${text}: bad`, false]),
  ...['my-web.ova', 'my_web.ova', 'my.web.ova', '1web.ova', '\u00e9web.ova'].map(
    (text): [string, string, boolean] => ['web.ova', `${text}: bad`, false],
  ),
  ['a+(1)[x]{2}^$|?*.ova', 'no a+(1)[x]{2}^$|?*.ova', true],
])('push of %s takes the error %j for one of its own: %s', (file, text, isOwn) => {
  expect(hasErrorOf({ errors: [text] }, ['db.ova', file])).toBe(isOwn);
});

describe('push of a file that stands twice', () => {
  it('sends it once', async () => {
    const { push, work, file, left } = await createUser();
    const link = path.join(temporaryDirectory(), 'link');
    symlinkSync(work, link);
    const { stderr } = await push(FAST, `${file} ${work}/./web.ova ${link}/web.ova`);
    expect(stderr.match(/web\.ova: /g)).toHaveLength(2);
    expect(stderr).toContain('web.ova: uploading\nimgctl: web.ova: uploaded');
    expect(left()).toEqual({ stored: ['web.ova'], syncs: 1 });
  });
});

it.each([
  ['stores nothing', 'PUT', 1, []],
  ['submits no sync', 'GET', 1, ['web.ova']],
  ['--no-sync prints nothing', 'GET', 1, ['web.ova']],
  // Before the sync, it looks once more whether the files are unchanged.
  ['submits no sync', 'PROPFIND', 5, ['web.ova']],
])(
  'push %s after another push took over while it was suspended in %s %i',
  async (what, sent, number, stored) => {
    let count = 0;
    const user = await storageUser('dav', [], ({ method }) => {
      if (method === sent) count += 1;
      if (count !== number) return;
      const directory = user.env.IMGCTL_CONFIG_DIR;
      for (const name of readdirSync(directory))
        if (name.endsWith('.lock')) rmSync(path.join(directory, name), { recursive: true });
    });
    const file = writeOva(user.work, 'web');
    mkdirSync(user.folder, { recursive: true });
    for (const name of stored) writeFileSync(path.join(user.folder, name), readFileSync(file));
    const options = what.startsWith('--no-sync') ? '--no-sync' : FAST;
    const result = await user.imgctl(`push ${file} ${options}`);
    expect(result).toEqual(failed(1, /another imgctl took it over\nhint: run the command again\n/));
    expect({ stored: user.stored(), syncs: user.syncs() }).toEqual({ stored, syncs: 0 });
  },
);

it.each([
  [
    '',
    1,
    /^imgctl: folder .* already has a different db-data\.iso\nhint: .*--on-conflict replace\n$/,
  ],
  ['--force', 2, /unknown option '--force'.*\nhint: use --on-conflict replace\n$/],
  ['--on-conflict skip', 0, /db\.ovf: skipped/],
  ['--on-conflict replace', 0, /db-data\.iso: uploaded/],
])('push %s with another file of that name exits %i', async (options, exitCode, text) => {
  const { push, work, folder, left } = await createUser();
  const taken = path.join(folder, 'db-data.iso');
  writeFileSync(taken, 'other');
  const result = await push(`${FAST} ${options}`.trim(), writeOvf(work, 'db'));
  expect(result).toMatchObject({ exitCode, stderr: expect.stringMatching(text) });
  const isReplaced = options.endsWith('replace');
  expect(readFileSync(taken, 'utf8') === 'other').toBe(!isReplaced);
  expect(left()).toEqual({
    stored: isReplaced ? DB : ['db-data.iso'],
    syncs: isReplaced ? 1 : 0,
  });
});

describe('push --on-conflict', () => {
  it('skip uploads a package that shares a disk with one that is skipped', async () => {
    const { push, work, folder, stored } = await createUser();
    const file = writeOvf(work, 'db');
    const other = copyOvf(file, 'other');
    writeFileSync(path.join(folder, 'other.ovf'), 'different');
    const options = '--no-sync --on-conflict skip -o csv';
    const { stdout, stderr } = await push(options, `${other} ${file}`);
    expect(stderr).toMatch(/other\.ovf: skipped, folder .* has a different file with that name\n/);
    expect(stderr).toContain('db-disk1.vmdk: skipped, with the rest of other.ovf\n');
    expect(stdout).toMatch(/^db\.ovf,\d+,uploaded\r?$/m);
    expect(stored()).toEqual([...DB, 'other.ovf']);
  });

  it('skip prints an empty list if nothing is left to sync', async () => {
    const { push, onTerminal, folder, left } = await createUser();
    writeFileSync(path.join(folder, 'web.ova'), 'different');
    const result = await push('--on-conflict skip --json');
    const warning = {
      message: expect.stringMatching(
        /^web\.ova: skipped, folder .* has a different file with that name$/,
      ),
    };
    expect(result).toMatchObject({ stdout: '[]\n', exitCode: 0 });
    expect(JSON.parse(result.stderr)).toEqual({ warning });
    for (const [given, action] of [
      ['skip', 'skip'],
      ['fail', 'conflict'],
    ])
      expect((await push(`--on-conflict ${given} --dry-run --get action`)).stdout).toBe(
        `${action}\n`,
      );
    const { stderr } = await onTerminal('--on-conflict skip');
    expect(stderr).toMatch(/^! web\.ova: skipped, folder .*\n✓ 1 image skipped\n$/);
    expect(left()).toEqual({ stored: ['web.ova'], syncs: 0 });
  });

  it('replace replaces a file that another push stores meanwhile', async () => {
    let folder = '';
    const user = await storageUser('dav', [], ({ method }) => {
      if (method === 'PUT') writeFileSync(path.join(folder, 'web.ova'), 'other');
    });
    folder = user.folder;
    const file = writeOva(user.work, 'web');
    const { exitCode } = await user.imgctl(`push ${file} --no-sync --on-conflict replace`);
    expect(exitCode).toBe(0);
    expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  });

  it('replace replaces a link to nothing, which is a conflict otherwise', async () => {
    const { push, folder, work } = await createUser();
    const file = writeOvf(work, 'db', 1_000);
    const manifest = file.replace(/ovf$/, 'mf');
    symlinkSync('/dev/null/none', path.join(folder, 'db.ovf'));
    symlinkSync('/none'.padStart(statSync(manifest).size, '/'), path.join(folder, 'db.mf'));
    const { stderr } = await push('--no-sync --dry-run', file);
    expect(stderr).toMatch(/already has a different db.(ovf|mf)/);
    await push('--no-sync --on-conflict replace', file);
    for (const each of [file, manifest])
      expect(readFileSync(path.join(folder, path.basename(each)))).toEqual(readFileSync(each));
  });
});

const makePipe = (file: string) => execFileSync('mkfifo', [file]);

unixOnly('pipes need Unix').each([
  ['a folder', 'fail', mkdirSync],
  ['a folder', 'replace', mkdirSync],
  ['a pipe', 'skip', makePipe],
  ['a pipe', 'replace', makePipe],
])(
  'push neither replaces nor reads %s in a folder, with --on-conflict %s',
  async (_what, action, create) => {
    const { push, folder } = await createUser();
    const taken = path.join(folder, 'web.ova');
    create(taken);
    const { ino } = statSync(taken);
    const hint = 'rename your file, or remove the other from the storage';
    const text = `imgctl: web.ova in folder ${folder} is not a file\nhint: ${hint}\n`;
    expect(await push(`--no-sync --on-conflict ${action}`)).toEqual(failed(1, text));
    expect([statSync(taken).ino, readdirSync(folder)]).toEqual([ino, ['web.ova']]);
  },
);

describe('push refuses a package', () => {
  const flip = (file: string) => flipByte(file, -5_000);
  const unprove = (file: string) => {
    rmSync(path.join(path.dirname(file), 'db.mf'));
    flipByte(file, -6_044);
  };
  const signWrongly = (file: string) => {
    const certificate = certificateFile('db.mf', Buffer.from('other'), selfSigned('localhost'));
    writeFileSync(file, certificate);
  };
  const MISMATCH = /db-data\.iso: SHA256 is \w+, the manifest has \w+ \(digest-mismatch\)/;

  it.each<[string, string, (file: string) => void, RegExp]>([
    ['a flipped byte', 'db-data.iso', flip, MISMATCH],
    [
      'a damaged disk without a digest',
      'db-disk1.vmdk',
      unprove,
      /disk1\.vmdk: .* \(unpack-failed\)/,
    ],
    ['a wrong signature', 'db.cert', signWrongly, /\(signature-mismatch\)/],
  ])('with %s, and shows nothing of it', async (_what, name, damage, finding) => {
    const { push, work, left, requests } = await createUser();
    const file = writeOvf(work, 'db');
    damage(path.join(path.dirname(file), name));
    const result = await push(FAST, file);
    expect(result).toEqual(failed(1, finding));
    expect(result.stderr).toMatch(
      /imgctl: .* is invalid: \d errors?\n( {2}.*\n)+hint: fix the find/,
    );
    expect(left()).toEqual(NOTHING);
    if (damage === signWrongly) expect(requests).toEqual([]);
  });

  const NO_NAME = 'invalid name for an upload:';
  unixOnly('such names need Unix').each([
    ['bs\\x.ova', `${NO_NAME} bs\\x.ova\nhint: rename it without backslashes and control`],
    ['.x.ova', `${NO_NAME} .x.ova\nhint: rename it: a name must not begin with a dot\n`],
    ['a\u001f.ova', /name for an upload: .*\nhint: rename it without backslashes and control/],
  ])('whose name no storage or service takes: %s', async (name, message) => {
    const { push, work, file, stored } = await createUser();
    renameSync(file, path.join(work, name));
    expect(await push('--no-sync', `'${path.join(work, name)}'`)).toEqual(failed(2, message));
    expect(stored()).toEqual([]);
  });

  it('that references a file in another folder, or one that another package has', async () => {
    const { push, work, stored } = await createUser();
    const write = (folder: string, href: string) => {
      const own = path.join(work, folder);
      mkdirSync(path.dirname(path.join(own, href)), { recursive: true });
      const file = `<File ovf:id="f" ovf:href="${href}"/>`;
      writeFileSync(path.join(own, `${folder}.ovf`), envelope(`<References>${file}</References>`));
      writeFileSync(path.join(own, href), folder);
      return path.join(own, `${folder}.ovf`);
    };
    const apart = `${NO_NAME} sub/x\nhint: put all files of the package in one folder\n`;
    expect(await push(FAST, write('a', 'sub/x'))).toEqual(failed(2, apart));
    const files = `${write('b', 'x')} ${write('c', 'x')}`;
    expect(await push(FAST, files)).toEqual(
      failed(2, /two files are named x: .*\nhint: push them separately, under different names\n$/),
    );
    expect(stored()).toEqual([]);
  });

  const CASE = /two files have names that differ only in case: .*\nhint: /;
  it.each([
    ['web', 'web', 'two files are named web.ova'],
    ['Db', 'db', CASE],
    ['d\u00f6', 'do\u0308', CASE],
  ])('if a storage may take the names %s and %s for one', async (one, other, message) => {
    const { push, work, stored } = await createUser();
    const files = [one, other].map((name, index) => {
      mkdirSync(path.join(work, `${index}`));
      return writeOva(path.join(work, `${index}`), name);
    });
    const result = await push('--on-conflict replace', files.join(' '));
    expect(result).toEqual(failed(2, message));
    expect(stored()).toEqual([]);
  });

  it('if two disks of one name are in different folders', async () => {
    const { push, work, stored } = await createUser();
    const files = ['a', 'b'].map((name) => copyOvf(writeOvf(path.join(work, name), 'db'), name));
    const result = await push('--on-conflict replace', files.join(' '));
    expect(result).toEqual(failed(2, 'two files are named db-disk1.vmdk: '));
    expect(stored()).toEqual([]);
  });
});

unixOnly('links need Unix')(
  'push of two links to themselves with one name is refused',
  async () => {
    const { push, work, left } = await createUser();
    const links = ['0', '1'].map((folder) => {
      mkdirSync(path.join(work, folder));
      symlinkSync('web.ova', path.join(work, folder, 'web.ova'));
      return path.join(work, folder, 'web.ova');
    });
    expect(await push(FAST, links.join(' '))).toEqual(failed(2, 'two files are named web.ova'));
    expect(left()).toEqual(NOTHING);
  },
);

it('push notices that a package was replaced while it was checked', async () => {
  const { env, file, left } = await createUser();
  const io = fakeIo({ env });
  let isReplaced = false;
  const now = () => {
    if (!isReplaced) renameSync(writeOva(path.dirname(file), 'other'), file);
    isReplaced = true;
    return Date.now();
  };
  const result = await runCli(['push', file, '--no-sync'], { ...io, now });
  expect(result).toEqual(failed(1, 'changed while it was uploaded'));
  expect(left()).toEqual(NOTHING);
});

describe('push fails before it uploads anything', () => {
  const NO_KEYS =
    'no access key and no secret key for the upload storage\nhint: set IMGCTL_UPLOAD_ACCESS_KEY, or run: imgctl config set upload-access-key NAME; then set IMGCTL_UPLOAD_SECRET ';
  const NO_STORAGE =
    /no upload storage is set\nhint: add --to URL \(file:.*\), or run: imgctl config set upload-url URL\n/;
  const PORT = /hint: check the port of the upload URL: --to; the server may also be down\n/;
  const PLAIN = 'plain http would expose credentials sent to host.example';

  it.each<[string, string, string, number, string | RegExp]>([
    ['without a storage', 'unset upload-url', '', 2, NO_STORAGE],
    ['for a broken URL', 'list', '--to s3+https://h/b/%zz', 2, 'invalid upload URL: s3+https://h'],
    ['for an empty URL', 'list', '--to=', 2, '--to must not be empty\nhint: use a URL such as '],
    ['without keys', 'list', '--to s3+http://127.0.0.1:1/b', 4, NO_KEYS],
    ['for plain http', 'set upload-url dav+http://host.example/x', '', 2, PLAIN],
    [
      'to a file',
      'list',
      '--to /dev/null',
      5,
      '/dev/null is not a folder\nhint: use the path of a folder\n',
    ],
    [
      'to a missing folder',
      'set upload-url file:///gone/x',
      '',
      5,
      '/gone/x does not exist\nhint: check its path, and that it is mounted\n',
    ],
    ['to a closed port', 'set retries 0', '--to dav+http://127.0.0.1:1/x', 3, PORT],
    ['if the login fails', 'set password-command false', '', 4, /hint: check IMGCTL_PASSWORD/],
    ...['4M', '16', '1025M', 'x'].map((size): [string, string, string, number, string] => {
      const text = `--part-size must be from 5M to 1024M (got ${size})`;
      return ['for a wrong size', 'list', `--part-size ${size}`, 2, text];
    }),
  ])('%s (config %s, push %s)', async (what, setting, options, exitCode, text) => {
    const { imgctl, file, left } = await createUser();
    const env = what.includes('login') ? { IMGCTL_PASSWORD: 'wrong' } : {};
    await imgctl(`config ${setting}`);
    const result = await imgctl(`push ${file} ${options}`.trim(), env);
    expect(result).toEqual(failed(exitCode, text));
    expect(left()).toEqual(NOTHING);
  });
});

describe('push without settings', () => {
  const setUp = async (onRequest = () => {}) => {
    const { env, settings, work, ...user } = await storageUser('dav', [], onRequest);
    const directory = configDirectory({});
    const own = { ...env, IMGCTL_CONFIG_DIR: directory, IMGCTL_UPLOAD_PASSWORD: undefined };
    const push = (io: FakeIoOptions, ...more: string[]) =>
      runCli(['push', writeOva(work, 'web'), ...FAST.split(' '), ...more], {
        ...io,
        env: { ...own, ...io.env },
      });
    const setUrl = () =>
      runCli(['config', 'set', 'upload-url', settings['upload-url']], { env: own });
    return { ...user, directory, settings, work, push, setUrl };
  };

  it('asks for user name and password on a terminal, again if one is wrong, and stores the user name', async () => {
    const { push, settings, directory, stored, work, setUrl } = await setUp();
    await setUrl();
    const stdin = fakeTerminal(`typo\rwrong\rdemo\r${SECRETS.storage}\r`);
    const { stderr } = await push({ stdin });
    expect(stderr).toMatch(
      /\nimgctl: warning: the storage refused the user name or password \(2\s+attempts\s+left\)\nUpload user name at .*: Upload password for demo at .*: \n/,
    );
    expect(stderr).toMatch(/^Upload user name at 127\..*: Upload password for typo at 127\..*: \n/);
    expect(stderr).toMatch(
      /\nimgctl: stored upload-username in the profile default, but not the password\nhint: to store a command that prints it: imgctl config set upload-password-command COMMAND\n/,
    );
    expect(stderr).toMatch(/✓ web\.ova: uploaded, .*\n[\s\S]*✓ 1 image added\n$/);
    expect(stored()).toEqual(['web.ova']);
    const { profiles } = JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8'));
    expect(profiles.default).toEqual(settings);
    const again = await push({ stdin: fakeTerminal(`${SECRETS.storage}\r`) }, writeOva(work, 'db'));
    expect(again.stderr).not.toContain('stored');
    expect(again.stderr).toMatch(
      /✓ web\.ova: already there\n[\s\S]*✓ 1 image added, 1 unchanged\n$/,
    );
  });

  it('asks only for the user name if a variable has the password', async () => {
    const { push, setUrl } = await setUp();
    await setUrl();
    const env = { IMGCTL_UPLOAD_PASSWORD: SECRETS.storage };
    const { stderr, exitCode } = await push({ stdin: fakeTerminal('demo\r'), env });
    const line = 'imgctl: stored upload-username in the profile default\n';
    expect([stderr.includes(line), exitCode]).toEqual([true, 0]);
  });

  it('does not say that it stored the user name if it cannot', async () => {
    let spoil = () => {};
    const { push, setUrl, directory } = await setUp(() => spoil());
    await setUrl();
    const file = path.join(directory, 'config.json');
    spoil = () => {
      rmSync(file);
      mkdirSync(file);
      spoil = () => {};
    };
    const { stderr, exitCode } = await push({ stdin: fakeTerminal(`demo\r${SECRETS.storage}\r`) });
    expect(stderr).toMatch(/: \nimgctl: cannot read the settings in [\s\S]*\nhint: .*\n$/);
    expect(stderr).not.toContain('stored');
    expect(exitCode).toBe(2);
  });

  it('says how to set the user name and password if one is not typed', async () => {
    const { push, setUrl } = await setUp();
    await setUrl();
    for (const [typed, hint] of [
      ['\u0004', 'UPLOAD_USERNAME, or run: imgctl config set upload-username NAME'],
      ['demo\r\u0004', 'UPLOAD_PASSWORD_FILE, or run: .* upload-password-command COMMAND'],
    ] as const) {
      const result = await push({ stdin: fakeTerminal(typed) });
      expect(result).toEqual(failed(2, new RegExp(`no input.*\nhint: set IMGCTL.*${hint}\n`)));
    }
  });

  it.each(['', '-q'])('never asks for the storage: push %s', async (option) => {
    const { push } = await setUp();
    const { stderr } = await push({ stdin: fakeTerminal('x\r') }, ...(option ? [option] : []));
    expect(stderr).toMatch(
      /^imgctl: no upload storage is set\nhint: add --to URL \(file:.*\), or run: imgctl config set upload-url URL\n/,
    );
  });

  it('stores no answer that the storage refuses', async () => {
    const { push, directory, setUrl } = await setUp();
    await setUrl();
    const stdin = fakeTerminal('demo\rwrong\r'.repeat(3));
    const { exitCode, stderr } = await push({ stdin });
    expect(exitCode).toBe(4);
    expect(stderr).toMatch(
      /hint: check the password and the user name, then run the command again\n$/,
    );
    expect(readFileSync(path.join(directory, 'config.json'), 'utf8')).not.toContain(
      'upload-username',
    );
  });

  it('takes a plain path as a folder: with --to, and in a setting, from any directory', async () => {
    const { folder, work, env, imgctl, stored } = await folderUser();
    await imgctl('config unset upload-url');
    const cwd = path.dirname(folder);
    const argv = ['push', writeOva(work, 'web'), '--no-sync'];
    const there = 'web.ova: already there';
    await runCli([...argv, '--to', 'demo'], { env, cwd });
    expect(stored()).toEqual(['web.ova']);
    const url = pathToFileURL(folder).href;
    const isStored = async () =>
      expect((await imgctl('config get upload-url')).stdout).toBe(`${url}\n`);
    await runCli(['config', 'set', 'upload-url', './demo'], { env, cwd });
    await isStored();
    expect((await imgctl(argv.join(' '))).stderr).toContain(there);
    expect(await runCli([...argv, '--to', 'nowhere'], { env, cwd })).toEqual(
      failed(5, `folder ${cwd}/nowhere does not exist\n`),
    );
  });

  it.each([
    ['dav', 'IMGCTL_UPLOAD_USERNAME'],
    ['s3', 'IMGCTL_UPLOAD_ACCESS_KEY'],
  ] as const)('needs only variables: %s, %s', async (kind, user) => {
    const { settings, imgctl, work, stored } = await storageUser(kind);
    const [url, name] = Object.values(settings);
    const variables = { IMGCTL_UPLOAD_URL: url, [user]: name };
    const env = { IMGCTL_CONFIG_DIR: configDirectory({}), ...variables };
    expect((await imgctl(`push ${writeOva(work, 'web')} ${FAST}`, env)).exitCode).toBe(0);
    expect(stored()).toEqual(['web.ova']);
  });

  it('names them unattended, and asks for the credentials of --to or a variable once', async () => {
    const { push, settings, stored, directory } = await setUp();
    const none = { IMGCTL_BASE_URL: undefined };
    expect(await push({ env: none })).toEqual(failed(2, 'no service address is set\n'));
    expect(await push({})).toEqual(failed(2, /no upload storage is set\nhint: add --to URL/));
    const credentials =
      'no user name and no password for the upload storage\nhint: set IMGCTL_UPLOAD_USERNAME, or run: imgctl config set upload-username NAME; then set IMGCTL_UPLOAD_PASSWORD or IMGCTL_UPLOAD_PASSWORD_FILE, or run: imgctl config set upload-password-command COMMAND\n';
    const to = ['--to', settings['upload-url']];
    expect(await push({}, ...to)).toEqual(failed(4, credentials));
    // What is typed for another storage is not stored.
    const stdin = () => fakeTerminal(`demo\r${SECRETS.storage}\r`);
    expect(await push({ stdin: stdin() }, ...to, '-q')).toEqual(failed(4, credentials));
    const ofAws = { AWS_ACCESS_KEY_ID: 'x' };
    expect((await push({ env: ofAws }, ...to)).stderr).not.toContain('amazonaws');
    await push({ stdin: stdin() }, ...to);
    expect(stored()).toEqual(['web.ova']);
    const env = { IMGCTL_UPLOAD_URL: settings['upload-url'] };
    const { stderr } = await push({ stdin: stdin(), env });
    expect(stderr).toContain('web.ova: already there');
    expect(readFileSync(path.join(directory, 'config.json'), 'utf8')).not.toContain('upload');
  });
});
