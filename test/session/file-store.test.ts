// The token cache: what it accepts, what it removes, and what it warns about.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Account } from '../../src/config/settings.ts';
import { advice, type Facts } from '../../src/facts.ts';
import { systemOf } from '../../src/io.ts';
import type { JsonObject } from '../../src/json.ts';
import { isInForce, needsRenewal } from '../../src/session/cached-token.ts';
import { FileStore } from '../../src/session/file-store.ts';
import { parseRefusal, type Refusal } from '../../src/session/refusal.ts';
import { forgetTokens } from '../../src/session/token-files.ts';
import { thrownBy } from '../support/errors.ts';
import { modeOf } from '../support/files.ts';
import { fakeIo, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { asRoot, onLinux } from '../support/requirements.ts';

const NOW = Date.UTC(2025, 0, 15);
const HOUR = 3_600_000;
const TOKEN = { token: 's3cret', receivedAt: NOW, expiresAt: NOW + 24 * HOUR };

const ACCOUNT = { profile: 'default', baseUrl: 'https://images.example', username: 'demo' };

function cacheIn(directory: string, changes: Partial<Account> = {}, env = {}) {
  const warnings: string[] = [];
  const hints: unknown[] = [];
  const warn = (message: string, facts?: Facts) => {
    warnings.push(message);
    hints.push(facts);
  };
  const io = { ...fakeIo({ env, time: NOW }), system: systemOf(process) };
  const cache = new FileStore(directory, { ...ACCOUNT, ...changes }, io, warn);
  return { cache, warnings, hints, file: cache.location ?? '' };
}

const namesIn = (directory: string) => fs.readdirSync(path.join(directory, 'tokens')).sort();

const LIMIT = { remaining: 0, receivedAt: NOW, resetsAt: NOW + 60_000 };
const SHORT = { token: 't', receivedAt: NOW, expiresAt: NOW + 10_000 };

it.each([
  ['fresh', TOKEN, NOW, false],
  ['just over a minute before its end', TOKEN, TOKEN.expiresAt - 60_001, false],
  ['a minute before its end', TOKEN, TOKEN.expiresAt - 60_000, true],
  ['with a short life, a tenth before its end', SHORT, NOW + 9_000, true],
  ['with a short life, before that', SHORT, NOW + 8_999, false],
  ['after the clock was set back', TOKEN, NOW - 1_000 * HOUR, false],
  ['after the clock jumped ahead', TOKEN, NOW + 1_000 * HOUR, true],
])('needsRenewal of a token %s', (_when, token, now, expected) => {
  expect(needsRenewal(token, now)).toBe(expected);
});

it('a test of the folder leaves the token, and nothing else', async () => {
  const { cache } = cacheIn(temporaryDirectory());
  const directory = path.dirname(path.dirname(cache.location ?? ''));
  await cache.write(TOKEN);
  const before = namesIn(directory);
  await cache.testWrite();
  expect(namesIn(directory)).toEqual(before);
  expect(cache.read()).toEqual(TOKEN);
});

it('a test of a folder that takes no token fails with the cause', async () => {
  const { cache } = cacheIn('/dev/null/none');
  const message = 'cannot store the access token (not a directory)';
  const error = {
    code: 'failed',
    message,
    facts: { kind: 'not-writable' },
    cause: { code: 'ENOTDIR' },
  };
  await expect(cache.testWrite()).rejects.toMatchObject(error);
});

const REFUSAL: Refusal = {
  ...{ id: 'i', code: 'not-permitted', message: 'm', status: 403, loginDigest: 'c' },
  advice: 'ask',
};

it('what need not be remembered fails without a warning', async () => {
  const { cache, warnings } = cacheIn('/dev/null/none');
  await cache.writeRefusal(REFUSAL);
  await cache.write(TOKEN, { isOptional: true });
  await cache.writeLimit(LIMIT, { isOptional: true });
  expect(warnings).toEqual([]);
  await cache.writeLimit(LIMIT);
  expect(warnings).toEqual([
    'cannot store the access token or its request limit (not a directory); it is used for this run only',
  ]);
});

const LIMIT_RECORD = { remaining: 0, received_at: NOW, resets_at: NOW + 60_000 };

it.each([
  ['until its end', LIMIT, NOW + 59_999, true],
  ['not after its end', LIMIT, NOW + 60_000, false],
  ['for a day', { ...LIMIT, resetsAt: NOW + 24 * HOUR }, NOW, true],
  ['not for longer than a day', { ...LIMIT, resetsAt: NOW + 25 * HOUR }, NOW, false],
  ['not after the clock was set back', LIMIT, NOW - 1, false],
])('a limit is in force %s', (_when, remembered, now, expected) => {
  expect(isInForce(remembered, now)).toBe(expected);
});

const NO_TOKEN = /^\/.*token.*\.json holds no token and is ignored$/;

describe('the token cache', () => {
  it('belongs to all profiles of one base URL and user', async () => {
    const directory = temporaryDirectory();
    const { cache } = cacheIn(directory);
    await cache.write(TOKEN);
    await cache.writeLimit(LIMIT);
    const readBy = (changes: Partial<Account>) => {
      const other = cacheIn(directory, changes).cache;
      return [other.read(), other.readLimit()];
    };
    expect(readBy({ profile: 'other' })).toEqual([TOKEN, LIMIT]);
    expect(readBy({ username: 'other' })).toEqual([undefined, undefined]);
    expect(readBy({ baseUrl: 'https://b.example' })).toEqual([undefined, undefined]);
  });

  it.each([
    ['', /cannot read .*: not valid JSON .*; the file is ignored$/],
    ['{"token": "s3cret", "token": "x"}', /: it has token twice; the file is ignored$/],
    ['{"token": ""}', NO_TOKEN],
    ['{"token": "s3cret\\n", "received_at": 1, "expires_at": 9e15}', NO_TOKEN],
    ['{"token": "s3cret", "received_at": "now", "expires_at": 1}', NO_TOKEN],
    ['{"token": "s3cret", "received_at": 0, "expires_at": 1e300}', NO_TOKEN],
    ['{"token": "s3cret", "received_at": -1, "expires_at": 1}', NO_TOKEN],
  ])('warns of a file that reads %s, without its contents', async (text, warning) => {
    const { cache, warnings, file } = cacheIn(temporaryDirectory());
    await cache.write(TOKEN);
    fs.writeFileSync(file, text);
    expect({ read: cache.read(), warnings }).toEqual({
      read: undefined,
      warnings: [expect.stringMatching(warning)],
    });
    expect(warnings.join()).not.toContain('s3cret');
  });

  it('may begin with a byte order mark', async () => {
    const { cache, warnings, file } = cacheIn(temporaryDirectory());
    await cache.write(TOKEN);
    fs.writeFileSync(file, `\ufeff${fs.readFileSync(file, 'utf8')}`);
    expect({ read: cache.read(), warnings }).toEqual({ read: TOKEN, warnings: [] });
  });

  it.each([
    { ...LIMIT_RECORD, remaining: '0' },
    { ...LIMIT_RECORD, received_at: null },
    { ...LIMIT_RECORD, resets_at: 1e300 },
    { ...LIMIT_RECORD, received_at: NOW + 1 },
  ])('knows no limit from a file that holds %j', async (record) => {
    const { cache } = cacheIn(temporaryDirectory());
    await cache.writeLimit(LIMIT);
    const file = `${cache.limitFile}`;
    expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(LIMIT_RECORD);
    fs.writeFileSync(file, JSON.stringify(record));
    expect(cache.readLimit()).toBeUndefined();
  });

  // Node's own way to create folders never returns below /proc.
  onLinux('is not written where no folder can be (only on Linux)', async () => {
    const { cache, warnings, hints } = cacheIn('/proc/none');
    // Others would only send the same password again.
    await cache.writeRefusal(REFUSAL);
    expect(cache.writeFailed).toBe(false);
    await cache.writeLimit(LIMIT);
    await cache.write(TOKEN);
    const what = 'the access token or its request limit (no such file or directory)';
    const whole = `cannot store ${what}; it is used for this run only`;
    expect(warnings).toEqual([whole, whole]);
    const hint = { kind: 'not-writable' };
    expect([...hints, cache.writeFailed]).toEqual([hint, hint, true]);
  });

  asRoot('ignores a file of another user (skipped: needs root)', async () => {
    const { cache, warnings, file } = cacheIn(temporaryDirectory());
    await cache.write(TOKEN);
    fs.chownSync(file, 65_534, 65_534);
    const warning = `cannot read ${file}: it belongs to another user; the file is ignored`;
    expect({ read: cache.read(), warnings }).toEqual({ read: undefined, warnings: [warning] });
    await cache.write(TOKEN);
    expect(cache.read()).toEqual(TOKEN);
  });

  asRoot('leaves a file in a trusted folder to another user (skipped: needs root)', async () => {
    const env = { IMGCTL_CONFIG_DIR: '/x' };
    const { cache, warnings, file } = cacheIn(temporaryDirectory(), {}, env);
    await cache.write(TOKEN);
    fs.chmodSync(file, 0o640);
    fs.chownSync(file, 65_534, 65_533);
    expect({ read: cache.read(), warnings }).toEqual({ read: TOKEN, warnings: [] });
    expect(fs.statSync(file).mode & 0o777).toBe(0o640);
    await cache.write({ ...TOKEN, token: 'next' });
    expect(cache.read()?.token).toBe('next');
    const { uid, gid } = fs.statSync(file);
    expect({ uid, gid }).toEqual({ uid: 65_534, gid: 65_533 });
  });

  unixOnly('modes are Unix')(
    'tightens its own file and folder, not the target of a link',
    async () => {
      const directory = temporaryDirectory();
      const tokens = path.join(directory, 'tokens');
      const elsewhere = path.join(directory, 'elsewhere');
      const { cache, warnings, file } = cacheIn(directory);
      await cache.write(TOKEN);
      for (const mode of ['750', '705']) {
        for (const own of [directory, tokens, file]) fs.chmodSync(own, mode);
        cache.read();
        expect([directory, tokens, file].map(modeOf)).toEqual([mode, '700', '600']);
      }
      fs.renameSync(tokens, elsewhere);
      fs.symlinkSync(elsewhere, tokens);
      fs.chmodSync(elsewhere, 0o755);
      expect(cache.read()).toEqual(TOKEN);
      expect([modeOf(elsewhere), warnings]).toEqual(['755', []]);
    },
  );
});

it.each([
  ['itself', {}, {}],
  ['one without advice', { advice: 7 }, { advice: undefined }],
  ...['id', 'message', 'status', 'loginDigest'].map(
    (key) => [`no refusal without ${key}`, { [key]: null }, undefined] as const,
  ),
  ['no refusal with another code', { code: 'failed' }, undefined],
] as const)('a stored refusal is read as %s', (_, changes, read) => {
  const record: JsonObject = { ...REFUSAL, ...changes };
  expect(parseRefusal(record)).toEqual(read && { ...REFUSAL, ...read });
});

describe('forgetTokens', () => {
  it('removes the token of one account and its refusal, or those of all', async () => {
    const directory = temporaryDirectory();
    const { cache } = cacheIn(directory);
    const other = cacheIn(directory, { username: 'bob' });
    await cache.write(TOKEN);
    await cache.writeRefusal(REFUSAL);
    await other.cache.write(TOKEN);
    expect(forgetTokens(directory, ACCOUNT)).toBe(1);
    expect(namesIn(directory)).toEqual([path.basename(other.file)]);
    expect([forgetTokens(directory), namesIn(directory)]).toEqual([1, []]);
  });

  it('removes a token that was stored while it listed the files', () => {
    const directory = temporaryDirectory();
    const { cache, file } = cacheIn(directory);
    const { readdirSync } = fs;
    const list = vi.spyOn(fs, 'readdirSync').mockImplementationOnce((folder) => {
      const names = readdirSync(folder);
      fs.writeFileSync(file, '{}');
      return names as never;
    });
    onTestFinished(() => list.mockRestore());
    fs.mkdirSync(path.dirname(`${cache.limitFile}`));
    expect([forgetTokens(directory), namesIn(directory)]).toEqual([1, []]);
  });

  it.each([
    ['a token', 'remove it by hand: it may hold an access token'],
    ['a refusal', 'remove it by hand'],
  ])('removes the other files if that of %s cannot be removed', async (what, hint) => {
    const directory = temporaryDirectory();
    for (const username of ['a', 'b', 'c']) {
      const { cache } = cacheIn(directory, { username });
      await (what === 'a token' ? cache.write(TOKEN) : cache.writeRefusal(REFUSAL));
    }
    const [first = ''] = namesIn(directory);
    const busy = Object.assign(new Error(), { code: 'EBUSY' });
    const remove = vi.spyOn(fs, 'rmSync').mockImplementationOnce(() => {
      throw busy;
    });
    onTestFinished(() => remove.mockRestore());
    const file = path.join(directory, 'tokens', first);
    expect(thrownBy(() => forgetTokens(directory))).toMatchObject({
      code: 'config',
      message: `cannot remove ${file}: resource busy or locked`,
      facts: advice(hint),
    });
    expect(namesIn(directory)).toEqual([first]);
    // Another logout came first.
    remove.mockImplementationOnce(() => {
      throw Object.assign(new Error(), { code: 'ENOENT' });
    });
    expect(forgetTokens(directory)).toBe(0);
  });

  unixOnly('links need no rights')('fails for a folder that cannot be read', () => {
    const directory = temporaryDirectory();
    const folder = path.join(directory, 'tokens');
    fs.symlinkSync('tokens', folder);
    expect(thrownBy(() => forgetTokens(directory))).toMatchObject({
      code: 'config',
      message: expect.stringContaining(`cannot read ${folder}: `),
      facts: advice('remove its tokens by hand'),
    });
  });

  it('removes links and what killed writers left, but no target, folder or limit', async () => {
    const directory = temporaryDirectory();
    const { cache, file } = cacheIn(directory);
    await cache.write(TOKEN);
    await cache.writeLimit(LIMIT);
    const target = path.join(directory, 'target');
    fs.renameSync(file, target);
    fs.symlinkSync(target, file);
    fs.writeFileSync(file.replace('_token', '._token').concat('.abc.new'), 'left behind');
    expect(forgetTokens(directory, ACCOUNT)).toBe(1);
    expect(namesIn(directory)).toEqual([expect.stringMatching(/^_limit\./)]);
    expect(fs.existsSync(target)).toBe(true);
    fs.mkdirSync(file);
    expect(forgetTokens(directory)).toBe(0);
  });

  it('removes no file of another program, such as in a folder that a link leads to', async () => {
    const directory = temporaryDirectory();
    const names = ['id_rsa', 'known.hosts', 'default.backup.json'];
    fs.mkdirSync(path.join(directory, 'keys'));
    for (const name of names) fs.writeFileSync(path.join(directory, 'keys', name), '');
    fs.symlinkSync('keys', path.join(directory, 'tokens'));
    expect(forgetTokens(directory)).toBe(0);
    expect(forgetTokens(directory, ACCOUNT)).toBe(0);
    expect(namesIn(directory).sort()).toEqual(names.sort());
  });
});
