// The cache of proofs: what is not read again, what is noticed nevertheless, and which proofs are made at all.

import { createHash } from 'node:crypto';
import {
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { systemOf } from '../../src/io.ts';
import { loadProofs } from '../../src/upload/proofs.ts';
import { isSettledTag, storedFingerprint } from '../../src/upload/responses.ts';
import { fingerprintOf, isSettled, SETTLED } from '../../src/upload/upload-file.ts';
import { flipByte } from '../support/files.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { onLinux } from '../support/requirements.ts';
import { copyOvf, STORAGES, uploadUser, writeOva, writeOvf } from '../support/uploads.ts';

const SIZE = 2 ** 20;
/** More than headers, descriptor, manifest, small disk and settings. */
const LITTLE = SIZE / 2;
const HOUR = 3_600_000;
const NOW = 1_800_000_000_000;
const SET_BACK = -600_000;

/** Bytes that this process has read, from files and connections. */
const bytesRead = () => Number(/rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);

/** Changes one byte; the size and the time of the last change stay. */
function flip(file: string, options: { keepTime?: boolean } = {}): void {
  const { mtime } = statSync(file);
  flipByte(file, SIZE / 2);
  if (options.keepTime) utimesSync(file, mtime, mtime);
}

/** Makes the file older, or newer: the clock of a WebDAV server is real. */
function age(file: string, milliseconds = HOUR): void {
  const time = new Date(Date.now() - milliseconds);
  utimesSync(file, time, time);
}

const OTHER = 'already has a different web.ova';

type Kind = (typeof STORAGES)[number];

/** A user who pushes web.ova a while after it was written. */
async function setUp(kind: Kind) {
  const user = await uploadUser(kind);
  const file = writeOva(user.work, 'web', SIZE);
  const stored = path.join(user.folder, 'web.ova');
  /** @param time what the clock shows during the push [a while after the files were written] */
  const push = async (options = '', time = Date.now() + 10_000) => {
    const argv = `push ${file} --no-sync --retries 0 --part-size 5M ${options}`.trim().split(' ');
    const before = bytesRead();
    const result = await runCli(argv, { env: user.env, time });
    return { ...result, read: bytesRead() - before };
  };
  /** Pushes until the content is proved equal. */
  const prove = async (time?: number) => {
    await push('', time);
    if (kind === 'dav') age(stored);
    await push('', time);
  };
  const cache = () => {
    const directory = user.env.IMGCTL_CONFIG_DIR ?? '';
    const [name = ''] = readdirSync(directory).filter((each) => each.startsWith('uploads.'));
    return path.join(directory, name);
  };
  return { ...user, file, stored, push, prove, cache };
}

describe.each(STORAGES)('a push to %s that proved a file equal', (kind) => {
  onLinux('reads neither side again, as often as it runs', async () => {
    const { push, prove } = await setUp(kind);
    await prove();
    for (let run = 0; run < 2; run += 1) {
      const { stderr, read, exitCode } = await push();
      expect({ stderr, exitCode }).toEqual({
        stderr: 'imgctl: web.ova: already there\n',
        exitCode: 0,
      });
      expect(read).toBeLessThan(LITTLE);
    }
  });

  const READ = kind === 'dav' ? 'both sides, until the stored one is old enough,' : 'nothing';
  onLinux(`reads ${READ} after its upload`, async () => {
    const { push, stored } = await setUp(kind);
    await push();
    if (kind === 'dav') {
      expect((await push()).read).toBeGreaterThan(LITTLE);
      age(stored, -HOUR);
      for (const _run of [1, 2]) expect((await push()).read).toBeGreaterThan(LITTLE);
      age(stored);
      await push();
    }
    expect((await push()).read).toBeLessThan(LITTLE);
  });

  it.each<[string, string, (stored: string) => void]>([
    ['', OTHER, (stored) => flip(stored, { keepTime: kind !== 'dav' })],
    [', which is gone', 'web.ova: uploaded', (stored) => rmSync(stored)],
  ])('notices a change of the stored file%s', async (_what, text, change) => {
    const { push, prove, stored } = await setUp(kind);
    await prove();
    change(stored);
    expect((await push()).stderr).toContain(text);
  });
});

describe('a push to a folder that proved a file equal', () => {
  type Files = Readonly<Record<'file' | 'stored' | 'folder', string>>;
  it.each<[string, (files: Files) => void]>([
    ['a byte of the source', ({ file }) => flip(file, { keepTime: true })],
    [
      'the source, by rename',
      ({ file }) => {
        const { mtime } = statSync(file);
        const copy = `${file}.new`;
        writeFileSync(copy, readFileSync(file).fill('x', SIZE / 2, SIZE / 2 + 9));
        utimesSync(copy, mtime, mtime);
        renameSync(copy, file);
      },
    ],
    [
      'the folder that the storage has at this address',
      ({ folder, stored }) => {
        renameSync(folder, `${folder}.old`);
        mkdirSync(folder);
        writeFileSync(stored, readFileSync(path.join(`${folder}.old`, 'web.ova')));
        flip(stored);
        age(stored, 2 * HOUR);
      },
    ],
  ])('notices a change of %s', async (_what, change) => {
    const user = await setUp('file');
    await user.prove();
    change(user);
    expect((await user.push()).stderr).toContain(OTHER);
  });

  onLinux('with a clock set back proves nothing, and notices a change', async () => {
    const { push, prove, stored } = await setUp('file');
    const earlier = Date.now() + SET_BACK;
    await prove(earlier);
    expect((await push('', earlier)).read).toBeGreaterThan(LITTLE);
    await prove();
    flip(stored);
    expect((await push('', earlier)).stderr).toContain(OTHER);
  });
});

onLinux('push does not remember a folder file compared within two seconds', async () => {
  const { push, prove, stored, cache } = await setUp('file');
  await prove();
  rmSync(cache());
  age(stored, -10_000);
  const { mtimeMs } = statSync(stored);
  await push('', mtimeMs + 1_500);
  expect((await push('', mtimeMs + 3_000)).read).toBeGreaterThan(LITTLE);
  expect((await push('', mtimeMs + 3_000)).read).toBeLessThan(LITTLE);
});

onLinux('push does not remember a source that changed less than two seconds ago', async () => {
  const { push, file } = await setUp('file');
  const soon = statSync(file).ctimeMs + 1_500;
  await push('', soon);
  await push('', soon);
  expect((await push()).read).toBeGreaterThan(LITTLE);
  expect((await push()).read).toBeLessThan(LITTLE);
});

onLinux(
  'push remembers every file that it uploads to a folder, unless its time is in the future',
  async () => {
    const { env, work, cache, push, file } = await setUp('file');
    const files = Array.from({ length: 3 }, (_, index) => writeOva(work, `small${index}`, 1));
    await wait(2_200);
    await runCli(['push', ...files, '--no-sync'], { env });
    expect(readFileSync(cache(), 'utf8').match(/"name"/g)).toHaveLength(3);
    // The source is two seconds old, and what is uploaded now is newer.
    await push('', statSync(file).ctimeMs + 2_050);
    expect((await push()).read).toBeGreaterThan(LITTLE);
  },
);

describe('push of an OVF to a folder', () => {
  const setUpOvf = async () => {
    const user = await uploadUser('file');
    const file = writeOvf(user.work, 'db', SIZE);
    const manifest = file.replace(/ovf$/, 'mf');
    const push = (options = '', pushed = file) => {
      const argv = `push ${pushed} --no-sync --retries 0 ${options}`.trim().split(' ');
      return runCli(argv, { env: user.env, time: Date.now() + 10_000 });
    };
    await push();
    await push();
    return { push, manifest, own: path.dirname(file) };
  };

  it('reads what a changed manifest names', async () => {
    const { push, manifest, own } = await setUpOvf();
    const text = readFileSync(manifest, 'utf8');
    writeFileSync(manifest, text.replace(/(iso\)= ?)[0-9a-f]{8}/, '$100000000'));
    expect((await push()).stderr).toContain('already has a different db.mf');
    const replaced = await push('--on-conflict replace');
    expect(replaced).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/-mismatch\)/) });
    const lines = readdirSync(own).map((name) => {
      const digest = createHash('sha512')
        .update(readFileSync(path.join(own, name)))
        .digest('hex');
      return name.endsWith('.mf') ? '' : `SHA512(${name})= ${digest}\n`;
    });
    writeFileSync(manifest, lines.join(''));
    const { exitCode, stderr } = await push('--on-conflict replace');
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringMatching(/iso: already there\n.*mf: uploaded/),
    });
  });

  it('checks its own manifest after another package replaced the disk that both have', async () => {
    const { push, manifest, own } = await setUpOvf();
    const other = copyOvf(path.join(own, 'db.ovf'), 'other');
    flip(path.join(own, 'db-data.iso'));
    expect((await push('--on-conflict replace', other)).exitCode).toBe(0);
    const text = readFileSync(manifest, 'utf8');
    for (let run = 0; run < 2; run += 1)
      expect((await push()).stderr).toContain('(digest-mismatch)');
    expect(readFileSync(manifest, 'utf8')).toBe(text);
  });
});

it.each([
  ['two seconds old', 2_000n, 5n, true],
  ['one second old', 1_000n, 5n, false],
  ['in the future', -1_000n, 5n, false],
  ['two seconds old, of whole seconds', 2_000n, 0n, false],
])('a last change %s is a proof: %s ms, fraction %s: %s', (_what, age, fraction, isProof) => {
  const changed = (BigInt(NOW) - age) * 1_000_000n + fraction;
  const stats = { ino: 1n, size: 2n, mtimeNs: 3n, ctimeNs: changed };
  expect(isSettled(stats, NOW, SETTLED)).toBe(isProof);
});

it.each(['ino', 'size', 'mtimeNs', 'ctimeNs'])('another %s is another fingerprint', (key) => {
  const state = { ino: 1n, size: 1n, mtimeNs: 1n, ctimeNs: 1n };
  expect(fingerprintOf({ ...state, [key]: 2n })).not.toBe(fingerprintOf(state));
});

it.each([
  ['ETag', 'b', 'Monday', 1],
  ['time', 'a', 'Tuesday', 1],
  ['size', 'a', 'Monday', 2],
])('another %s is another fingerprint of a stored file', (_what, ...stored) => {
  expect(storedFingerprint(...stored)).not.toBe(storedFingerprint('a', 'Monday', 1));
});

const DATE = 'Mon, 23 Nov 2026 12:00:10 GMT';

it.each([
  ['an ETag and a time two seconds old', '"a"', 'Mon, 23 Nov 2026 12:00:08 GMT', DATE, true],
  ['a time two seconds old', '', 'Mon, 23 Nov 2026 12:00:08 GMT', DATE, true],
  ['an ETag only', '"a"', '', DATE, true],
  ['a weak ETag only', 'W/"a"', '', DATE, false],
  ['neither ETag nor time', '', '', DATE, false],
  ['a time one second old', '"a"', 'Mon, 23 Nov 2026 12:00:09 GMT', DATE, false],
  ['a time in the future', '"a"', 'Mon, 23 Nov 2026 12:00:11 GMT', DATE, false],
  ['an unknown Date', '"a"', 'Mon, 23 Nov 2026 12:00:08 GMT', 'unknown', false],
])('a stored file of %s is a proof: %j, %j, %j: %s', (_what, etag, modified, date, isProof) => {
  expect(isSettledTag(etag, modified, date)).toBe(isProof);
});

describe('the file of proofs', () => {
  const io = { system: systemOf(process) };
  const proof = (index: number, stored = '2') => {
    return { package: 'web.ova', name: `${index}`, source: '1', stored };
  };

  it('keeps the last ones below 4 MiB, so that it can be read', async () => {
    const file = path.join(temporaryDirectory(), 'uploads.json');
    const proofs = loadProofs(file, io);
    for (let index = 0; index <= 5_000; index += 1) proofs.remember(proof(index, 'a'.repeat(700)));
    proofs.remember(proof(0, 'b'));
    await proofs.save();
    proofs.remember(proof(2, 'c'.repeat(2 ** 22)));
    await proofs.save();
    const loaded = loadProofs(file, io);
    const isThere = (index: number) => loaded.has(proof(index, 'a'.repeat(700)));
    expect([0, 1, 2, 5_000].map(isThere)).toEqual([false, false, true, true]);
    expect(loaded.has(proof(0, 'b'))).toBe(true);
    expect(loaded.has({ ...proof(0, 'b'), source: '3' })).toBe(false);
    expect(loaded.has({ ...proof(0, 'b'), package: 'db.ova' })).toBe(false);
  });

  it('counts as empty if it was damaged, or is of another version or user, and is replaced', async () => {
    const file = path.join(temporaryDirectory(), 'uploads.json');
    const save = async () => {
      const proofs = loadProofs(file, io);
      proofs.remember(proof(1));
      await proofs.save();
      return readFileSync(file, 'utf8');
    };
    const text = await save();
    const damages: (() => void)[] = [
      () => truncateSync(file, 50),
      () => writeFileSync(file, text.replace('"version":3', '"version":2')),
      () => writeFileSync(file, text.replace('"stored":"2"', '"stored":2')),
      () => writeFileSync(file, text.replace('[', '[null,')),
      ...(process.getuid?.() === 0 ? [() => chownSync(file, 12_345, 12_345)] : []),
    ];
    for (const damage of damages) {
      damage();
      expect(loadProofs(file, io).has(proof(1))).toBe(false);
      expect(await save()).toBe(text);
      expect(statSync(file).uid).toBe(process.getuid?.());
    }
  });

  it('is not needed', async () => {
    for (const file of [undefined, '/dev/null/uploads.json']) {
      const proofs = loadProofs(file, io);
      proofs.remember(proof(1));
      await proofs.save();
      expect(proofs.has(proof(1))).toBe(true);
    }
  });
});
