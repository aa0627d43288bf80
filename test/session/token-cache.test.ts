// The token cache: what it accepts, what it removes, and what it warns about.

import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemOf } from '../../src/io.ts';
import {
  type Account,
  forgetTokens,
  needsRenewal,
  TokenCache,
} from '../../src/session/token-cache.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';

const NOW = Date.UTC(2025, 0, 15);
const HOUR = 3_600_000;
const TOKEN = { token: 's3cret', receivedAt: NOW, expiresAt: NOW + 24 * HOUR };

const ACCOUNT = { profile: 'default', baseUrl: 'https://images.example', username: 'demo' };

function cacheIn(directory: string | undefined, changes: Partial<Account> = {}) {
  const warnings: string[] = [];
  const account = { ...ACCOUNT, ...changes };
  const cache = new TokenCache(directory, account, systemOf(process), (message) =>
    warnings.push(message),
  );
  return { cache, warnings };
}

function tokenFile(directory: string): string {
  const [name = ''] = readdirSync(path.join(directory, 'tokens'));
  return path.join(directory, 'tokens', name);
}

describe('needsRenewal', () => {
  const short = { token: 't', receivedAt: NOW, expiresAt: NOW + 10_000 };

  it.each([
    ['fresh', TOKEN, NOW, false],
    ['just over a minute before its end', TOKEN, TOKEN.expiresAt - 60_001, false],
    ['a minute before its end', TOKEN, TOKEN.expiresAt - 60_000, true],
    ['after its end', TOKEN, TOKEN.expiresAt + 1, true],
    ['with a short life, a tenth before its end', short, NOW + 9_000, true],
    ['with a short life, before that', short, NOW + 8_999, false],
    ['after the clock was set back', TOKEN, NOW - 1_000 * HOUR, false],
    ['after the clock jumped ahead', TOKEN, NOW + 1_000 * HOUR, true],
  ])('decides whether to renew a token: %s', (_when, token, now, expected) => {
    expect(needsRenewal(token, now)).toBe(expected);
  });
});

describe('the cached token', () => {
  it('belongs to one profile, base URL and user', async () => {
    const directory = temporaryDirectory();
    await cacheIn(directory).cache.write(TOKEN);
    expect(cacheIn(directory).cache.read()).toEqual(TOKEN);
    expect(cacheIn(directory, { profile: 'other' }).cache.read()).toBeUndefined();
    expect(cacheIn(directory, { username: 'other' }).cache.read()).toBeUndefined();
    expect(modeOf(tokenFile(directory))).toBe('600');
  });

  it.each([
    ['{"token": "s3cret"', /not valid JSON/],
    ['{"token": ""}', /holds no token/],
    ['{"token": "s3cret\\n", "received_at": 1, "expires_at": 9e15}', /holds no token/],
    ['{"token": "s3cret", "received_at": "now", "expires_at": 1}', /holds no token/],
    ['{"token": "s3cret", "received_at": 0, "expires_at": 1e300}', /holds no token/],
  ])('that reads %s causes one warning without its contents', async (text, warning) => {
    const directory = temporaryDirectory();
    const { cache, warnings } = cacheIn(directory);
    await cache.write(TOKEN);
    writeFileSync(tokenFile(directory), text);
    expect([cache.read(), cache.read()]).toEqual([undefined, undefined]);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    expect(warnings.join()).not.toContain('s3cret');
  });

  it.each(['reading', 'writing'])(
    'tightens its own directory on %s, not the one above',
    async (access) => {
      const directory = temporaryDirectory();
      const tokens = path.join(directory, 'tokens');
      const { cache } = cacheIn(directory);
      await cache.write(TOKEN);
      chmodSync(directory, 0o755);
      chmodSync(tokens, 0o755);
      if (access === 'reading') expect(cache.read()).toEqual(TOKEN);
      else await cache.write(TOKEN);
      expect([directory, tokens].map(modeOf)).toEqual(['755', '700']);
    },
  );

  it('behind a symbolic link leaves the mode of the target unchanged', async () => {
    const elsewhere = temporaryDirectory();
    chmodSync(elsewhere, 0o755);
    const directory = temporaryDirectory();
    symlinkSync(elsewhere, path.join(directory, 'tokens'));
    await cacheIn(directory).cache.write(TOKEN);
    expect(cacheIn(directory).cache.read()).toEqual(TOKEN);
    expect(modeOf(elsewhere)).toBe('755');
  });

  it('that cannot be written causes one warning', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    writeFileSync(file, '');
    const { cache, warnings } = cacheIn(file);
    expect(cache.writeFailed).toBe(false);
    await cache.write(TOKEN);
    await cache.writeLimit({ remaining: 1, resetsAt: NOW });
    expect(cache.writeFailed).toBe(true);
    expect(warnings).toEqual([expect.stringMatching(/^cannot store the access token \(E[A-Z]+\)/)]);
  });

  it('is not written without a home directory', async () => {
    const { cache, warnings } = cacheIn(undefined);
    await cache.write(TOKEN);
    expect(cache.read()).toBeUndefined();
    expect(cache.forget()).toBe(false);
    expect(cache.limitFile).toBeUndefined();
    expect(warnings).toEqual([expect.stringContaining('no home directory')]);
  });
});

describe('the cached limit', () => {
  it('applies until it resets, to all profiles of the user', async () => {
    const directory = temporaryDirectory();
    const limit = { remaining: 0, resetsAt: NOW + 60_000 };
    await cacheIn(directory).cache.writeLimit(limit);
    const { cache } = cacheIn(directory, { profile: 'other' });
    expect(cache.readLimit(NOW)).toEqual(limit);
    expect(cache.readLimit(NOW + 60_000)).toBeUndefined();
    expect(cacheIn(directory, { username: 'other' }).cache.readLimit(NOW)).toBeUndefined();
  });

  it('is ignored if it resets in more than a day', async () => {
    const { cache } = cacheIn(temporaryDirectory());
    await cache.writeLimit({ remaining: 0, resetsAt: NOW + 25 * HOUR });
    expect(cache.readLimit(NOW)).toBeUndefined();
    expect(cache.readLimit(NOW + 2 * HOUR)).toBeDefined();
  });
});

describe('forgetting tokens', () => {
  it('removes the token once', async () => {
    const { cache } = cacheIn(temporaryDirectory());
    await cache.write(TOKEN);
    expect([cache.forget(), cache.forget()]).toEqual([true, false]);
    expect(cache.read()).toBeUndefined();
  });

  it('removes a link but not its target, and no directory', async () => {
    const directory = temporaryDirectory();
    const { cache } = cacheIn(directory);
    await cache.write(TOKEN);
    const file = tokenFile(directory);
    const target = path.join(directory, 'target');
    writeFileSync(target, 'mine');
    cache.forget();
    symlinkSync(target, file);
    expect(cache.forget()).toBe(true);
    expect(statSync(target).isFile()).toBe(true);
    mkdirSync(file);
    expect(cache.forget()).toBe(false);
  });

  it('removes the tokens of all profiles, whatever their names, but not the limit', async () => {
    const directory = temporaryDirectory();
    for (const profile of ['default', 'limit', 'lock']) {
      await cacheIn(directory, { profile }).cache.write(TOKEN);
    }
    const { cache } = cacheIn(directory);
    await cache.writeLimit({ remaining: 2, resetsAt: NOW + 60_000 });
    writeFileSync(path.join(directory, 'tokens', '.default.0.json.1.abc.new'), 'left behind');
    expect(forgetTokens(directory)).toBe(3);
    expect(readdirSync(path.join(directory, 'tokens'))).toHaveLength(1);
    expect(cache.readLimit(NOW)).toEqual({ remaining: 2, resetsAt: NOW + 60_000 });
    expect(forgetTokens(directory)).toBe(0);
  });

  it('removes all tokens of one profile', async () => {
    const directory = temporaryDirectory();
    const [work, work2] = [{ profile: 'work' }, { profile: 'work2' }];
    const accounts = [work, { ...work, username: 'alice' }, work2];
    for (const account of accounts) await cacheIn(directory, account).cache.write(TOKEN);
    writeFileSync(path.join(directory, 'tokens', '.work.0.json.1.abc.new'), 'left behind');
    expect(forgetTokens(directory, 'work')).toBe(2);
    expect(readdirSync(path.join(directory, 'tokens'))).toEqual([
      expect.stringMatching(/^work2\./),
    ]);
  });

  it('removes nothing without a directory', () => {
    const file = path.join(temporaryDirectory(), 'tokens');
    writeFileSync(file, '');
    expect(forgetTokens(path.dirname(file))).toBe(0);
    expect(forgetTokens(path.join(file, 'none'))).toBe(0);
    expect(forgetTokens(undefined)).toBe(0);
  });
});
