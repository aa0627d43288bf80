// The token cache: what it accepts, what it removes, and what it warns about.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemOf } from '../../src/io.ts';
import {
  type Account,
  forgetAllTokens,
  forgetTokens,
  needsRenewal,
  TokenCache,
} from '../../src/session/token-cache.ts';
import { modeOf } from '../support/files.ts';
import { temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';

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
  const name = namesIn(directory).find((entry) => entry.startsWith('_token.'));
  return path.join(directory, 'tokens', name ?? '');
}

function namesIn(directory: string): string[] {
  return fs.readdirSync(path.join(directory, 'tokens')).sort();
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
  unixOnly('modes are Unix')('belongs to all profiles of one base URL and user', async () => {
    const directory = temporaryDirectory();
    await cacheIn(directory).cache.write(TOKEN);
    expect(cacheIn(directory, { profile: 'other' }).cache.read()).toEqual(TOKEN);
    expect(cacheIn(directory, { username: 'other' }).cache.read()).toBeUndefined();
    expect(cacheIn(directory, { baseUrl: 'https://b.example' }).cache.read()).toBeUndefined();
    const [token = '', ...marks] = namesIn(directory);
    expect(token).toMatch(/^_token\.[0-9a-f]{16}\.json$/);
    const key = token.split('.')[1];
    expect(marks).toEqual([`default.${key}.used`, `other.${key}.used`]);
    const modes = [token, ...marks].map((name) => modeOf(path.join(directory, 'tokens', name)));
    expect(modes).toEqual(['600', '600', '600']);
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
    fs.writeFileSync(tokenFile(directory), text);
    expect([cache.read(), cache.read()]).toEqual([undefined, undefined]);
    expect(warnings).toEqual([expect.stringMatching(warning)]);
    expect(warnings.join()).not.toContain('s3cret');
  });

  // Only root can give a file away.
  it.skipIf(process.getuid?.() !== 0)(
    'of another user is not used, causes one warning and is replaced by the next login',
    async () => {
      const directory = temporaryDirectory();
      const { cache, warnings } = cacheIn(directory);
      await cache.write(TOKEN);
      fs.chownSync(tokenFile(directory), 65_534, 65_534);
      expect([cache.read(), cache.read()]).toEqual([undefined, undefined]);
      expect(warnings).toEqual([
        `cannot read ${tokenFile(directory)}: it belongs to another user; the file is ignored`,
      ]);
      await cache.write(TOKEN);
      expect(cache.read()).toEqual(TOKEN);
    },
  );

  unixOnly('modes are Unix')(
    'tightens its own directory, not the one above nor the target of a link',
    async () => {
      const directory = temporaryDirectory();
      const tokens = path.join(directory, 'tokens');
      const { cache, warnings } = cacheIn(directory);
      await cache.write(TOKEN);
      for (const access of [() => cache.read(), () => cache.write(TOKEN)]) {
        for (const folder of [directory, tokens]) fs.chmodSync(folder, 0o755);
        await access();
        expect([directory, tokens].map(modeOf)).toEqual(['755', '700']);
      }
      const elsewhere = path.join(directory, 'elsewhere');
      fs.renameSync(tokens, elsewhere);
      fs.symlinkSync(elsewhere, tokens);
      fs.chmodSync(elsewhere, 0o755);
      expect(cache.read()).toEqual(TOKEN);
      expect([modeOf(elsewhere), warnings]).toEqual(['755', []]);
    },
  );

  it('that cannot be written causes one warning', async () => {
    const file = path.join(temporaryDirectory(), 'file');
    fs.writeFileSync(file, '');
    for (const [directory, warning] of [
      [file, /^cannot store the access token \(E[A-Z]+\)/],
      [undefined, /^cannot store the access token \(no home directory\)/],
    ] as const) {
      const { cache, warnings } = cacheIn(directory);
      expect(cache.writeFailed).toBe(false);
      await cache.write(TOKEN);
      await cache.writeLimit({ remaining: 1, receivedAt: NOW, resetsAt: NOW });
      expect([cache.read(), cache.writeFailed]).toEqual([undefined, true]);
      expect(warnings).toEqual([expect.stringMatching(warning)]);
    }
  });
});

describe('the cached limit', () => {
  const limit = { remaining: 0, receivedAt: NOW, resetsAt: NOW + 60_000 };

  it('belongs to all profiles of the user', async () => {
    const directory = temporaryDirectory();
    await cacheIn(directory).cache.writeLimit(limit);
    expect(cacheIn(directory, { profile: 'other' }).cache.readLimit(NOW)).toEqual(limit);
    expect(cacheIn(directory, { username: 'other' }).cache.readLimit(NOW)).toBeUndefined();
  });

  it.each([
    ['it has ended', limit, NOW + 60_000],
    ['the window is longer than a day', { resetsAt: NOW + 25 * HOUR }, NOW],
    ['the clock was set back since', limit, NOW - 1],
    ['it has no time', { receivedAt: Number.NaN }, NOW],
  ])('is ignored if %s', async (_why, changes, now) => {
    const { cache } = cacheIn(temporaryDirectory());
    await cache.writeLimit({ ...limit, ...changes });
    expect(cache.readLimit(now)).toBeUndefined();
  });
});

describe('forgetting tokens', () => {
  const work = { profile: 'work' };
  const token = expect.stringMatching(/^_token\./);

  it('removes every token that the profile used or read once, and says who else used them', async () => {
    const directory = temporaryDirectory();
    await cacheIn(directory).cache.write(TOKEN);
    await cacheIn(directory, { ...work, username: 'bob' }).cache.write(TOKEN);
    cacheIn(directory, { username: 'bob' }).cache.read();
    await cacheIn(directory, { ...work, username: 'carol' }).cache.write(TOKEN);
    fs.writeFileSync(path.join(directory, 'tokens', '.default.0.json.1.abc.new'), 'left behind');
    const account = { ...ACCOUNT, username: 'new' };
    expect(forgetTokens(directory, 'default', account)).toEqual({ count: 2, alsoUsedBy: ['work'] });
    expect(namesIn(directory)).toEqual([token, expect.stringMatching(/^work\./)]);
    expect(forgetTokens(directory, 'default', account).count).toBe(0);
    expect(cacheIn(directory, { username: 'carol' }).cache.read()).toEqual(TOKEN);
  });

  it('leaves the tokens of other profiles when a profile is deleted', async () => {
    const directory = temporaryDirectory();
    await cacheIn(directory).cache.write(TOKEN);
    cacheIn(directory, work).cache.read();
    await cacheIn(directory, { ...work, username: 'bob' }).cache.write(TOKEN);
    forgetTokens(directory, 'work');
    expect(namesIn(directory)).toEqual([token, expect.stringMatching(/^default\./)]);
  });

  unixOnly('links need rights')('removes a link but not its target, and no directory', async () => {
    const directory = temporaryDirectory();
    expect([forgetAllTokens(undefined), forgetAllTokens(directory)]).toEqual([0, 0]);
    await cacheIn(directory).cache.write(TOKEN);
    const file = tokenFile(directory);
    const target = path.join(directory, 'target');
    fs.renameSync(file, target);
    fs.symlinkSync(target, file);
    expect(forgetTokens(directory, 'default', ACCOUNT).count).toBe(1);
    expect(fs.existsSync(target)).toBe(true);
    fs.mkdirSync(file);
    expect(forgetTokens(directory, 'default', ACCOUNT).count).toBe(0);
  });

  it('removes the tokens of all profiles, whatever their names, but not the limit', async () => {
    const directory = temporaryDirectory();
    for (const profile of ['default', 'limit', 'lock']) {
      await cacheIn(directory, { profile, username: profile }).cache.write(TOKEN);
    }
    const { cache } = cacheIn(directory);
    const limit = { remaining: 2, receivedAt: NOW, resetsAt: NOW + 60_000 };
    await cache.writeLimit(limit);
    fs.writeFileSync(path.join(directory, 'tokens', '._token.0.json.1.abc.new'), 'left behind');
    expect(forgetAllTokens(directory)).toBe(3);
    expect(namesIn(directory)).toEqual([expect.stringMatching(/^_limit\./)]);
    expect(cache.readLimit(NOW)).toEqual(limit);
  });
});
