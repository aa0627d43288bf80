// Tokens in a real Redis server, and what happens if it fails. Each session has a home of its own.

import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseKey, seal, unseal } from '../../src/session/shared-store.ts';
import { thrownBy } from '../support/errors.ts';
import { type FakeIo, type FakeIoOptions, fakeIo, temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, startRedis } from '../support/redis.ts';
import { listen } from '../support/sockets.ts';
import { type SessionUnderTest, sessionWith, startService } from './harness.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

/**
 * A service and sessions of one account, each on a machine of its own. Long waits take no time, and
 * `budget` replaces the 2 s to reach the store: they are short on a busy machine.
 */
async function fleet(
  env: FakeIoOptions['env'] = {},
  options: Parameters<typeof startService>[0] = {},
  budget = 25_000,
) {
  const service = await startService(options);
  const machine = (changes: FakeIoOptions['env'] = {}): FakeIo => {
    const io = fakeIo({ env: { IMGCTL_PASSWORD: 'demo', ...env, ...changes } });
    const sleep: FakeIo['sleep'] = (milliseconds, signal) =>
      io.sleep(milliseconds === 100 ? budget / 20 : Math.min(milliseconds, 90), signal);
    return { ...io, sleep };
  };
  const open = (
    io = machine(),
    stored: Readonly<Record<string, string>> = { username: 'demo' },
    directory = temporaryDirectory(),
  ) => sessionWith(service.emulator.baseUrl, directory, io.env, io, stored);
  const use = async (session: SessionUnderTest) => {
    await session.client.serviceRoot();
    return session;
  };
  return { ...service, machine, open, use };
}

describe.skipIf(NO_REDIS)(`a shared token store${REDIS_REASON}`, () => {
  it('gives one token to all machines, and one more if it is revoked, over TLS and with an ACL user', async () => {
    const redis = await startRedis({ tls: true });
    const { emulator, open, use, tokenRequests } = await fleet(redis.env);
    const stored = { username: 'demo', 'ca-file': redis.caFile };
    const sessions = await Promise.all(Array.from({ length: 8 }, () => open(undefined, stored)));
    await Promise.all(sessions.map(use));
    expect(sessions.flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(tokenRequests()).toBe(1);
    emulator.expireTokens();
    await Promise.all(sessions.map(use));
    expect(tokenRequests()).toBe(2);
    expect(sessions.flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(redis.cli('keys', '*lock')).toBe('');
    const { warnings } = await use(await open());
    expect(warnings).toEqual([
      `cannot use the token store ${redis.url}: no trusted TLS connection: DEPTH_ZERO_SELF_SIGNED_CERT`,
    ]);
  });

  it('serves a machine that can write no files, without a warning', async () => {
    const redis = await startRedis();
    const { open, use, tokenRequests } = await fleet(redis.env);
    const none = path.join(temporaryDirectory(), 'file', 'below');
    writeFileSync(path.dirname(none), '');
    for (const session of [
      await open(undefined, undefined, none),
      await open(undefined, undefined, none),
    ]) {
      expect((await use(session)).warnings).toEqual([]);
    }
    expect(tokenRequests()).toBe(1);
  });

  it('keeps tokens of other users and base URLs apart, as long as they live', async () => {
    const redis = await startRedis();
    const users = ['demo', 'alice'].map((name) => ({ name, password: 'demo' }));
    const { open, tokenRequests } = await fleet(redis.env, { users, tokenTtl: 3_600_000 });
    const other = await fleet(redis.env, { users });
    const sessions = [
      await open(),
      await open(undefined, { username: 'alice' }),
      await other.open(),
    ];
    const tokens = new Set<string | undefined>();
    for (const session of sessions) tokens.add(await session.tokens?.current());
    expect(tokens.size).toBe(3);
    expect([tokenRequests(), other.tokenRequests()]).toEqual([2, 1]);
    expect(redis.cli('keys', '*').split('\n')).toHaveLength(6);
    expect(redis.cli('keys', '*demo*')).toBe('');
    const left = Number(redis.cli('pttl', redis.cli('keys', '*token').split('\n').sort()[0] ?? ''));
    expect(left).toBeGreaterThan(3_000_000);
  });

  it('is the database that the URL names, and is not contacted with IMGCTL_TOKEN', async () => {
    const redis = await startRedis();
    const env = { ...redis.env, IMGCTL_TOKEN_STORE: redis.url.replace(/0$/, '3') };
    const { machine, open, use } = await fleet(env);
    const { tokens } = await use(await open());
    const found = [redis.cli('keys', '*'), redis.cli('-n', '3', 'keys', '*token')];
    expect(found).toEqual(['', expect.stringMatching(/token$/)]);
    redis.cli('shutdown', 'nosave');
    const fixed = machine({ IMGCTL_TOKEN: await tokens?.current() });
    expect((await use(await open(fixed))).warnings).toEqual([]);
  });

  it('shares what is known of the limit', async () => {
    const redis = await startRedis();
    const { open, tokenRequests } = await fleet(redis.env, { tokenLimit: 2 });
    await (await open()).tokens?.login('demo');
    await (await open()).tokens?.login('demo');
    await expect((await open()).tokens?.login('demo')).rejects.toMatchObject({
      code: 'rate-limited',
      message: 'token request limit reached',
    });
    expect(tokenRequests()).toBe(2);
  });

  const OTHER_KEY = randomBytes(32).toString('base64');
  it.each([
    ['sealed', 'another key', KEY, OTHER_KEY, 'its token is sealed with another key'],
    ['sealed', 'no key', KEY, undefined, 'its token is sealed with a key'],
    ['not sealed', 'a key', undefined, KEY, 'its token is not sealed, but a key is set'],
  ])('whose token is %s is left alone by a machine with %s', async (...row) => {
    const [, , first, second, reason] = row;
    const redis = await startRedis();
    const { machine, open, use, tokenRequests } = await fleet(redis.env);
    const openWith = (key: string | undefined) => open(machine({ IMGCTL_TOKEN_STORE_KEY: key }));
    const { tokens } = await use(await openWith(first));
    expect((await use(await openWith(first))).warnings).toEqual([]);
    expect(tokenRequests()).toBe(1);
    const before = redis.cli('get', redis.cli('keys', '*token'));
    expect(before.includes((await tokens?.current()) ?? '')).toBe(first === undefined);
    const session = await use(await openWith(second));
    await session.tokens?.login('demo');
    expect(session.warnings).toEqual([`cannot use the token store ${redis.url}: ${reason}`]);
    expect(redis.cli('get', redis.cli('keys', '*token'))).toBe(before);
    expect([tokenRequests(), session.cache.read()]).toEqual([3, expect.anything()]);
  });

  it.each([
    ['is full', 'config set maxmemory 1', 'OOM command not allowed'],
    ['is read-only', 'replicaof 127.0.0.1 1', "READONLY You can't write"],
    ['refuses the password', 'acl setuser imgctl resetpass', 'WRONGPASS invalid'],
    ['denies a command', 'acl setuser imgctl -set', 'NOPERM'],
    ['holds something else', 'set TOKEN pässwort px 1000000', 'it holds something other than a'],
    ['has a lock without a time limit', 'set LOCK another', 'its lock has no time limit'],
    ['has a lock for an hour', 'set LOCK another px 3600000', 'its lock is set for more than 30 s'],
  ])('that %s costs a warning, and is left alone', async (_, command, reason) => {
    const redis = await startRedis();
    const { open, use, tokenRequests } = await fleet(redis.env);
    await use(await open());
    const token = redis.cli('keys', '*token');
    const lock = token.replace(/token$/, 'lock');
    redis.cli('del', token);
    const keys: Record<string, string> = { TOKEN: token, LOCK: lock };
    redis.cli(...command.split(' ').map((word) => keys[word] ?? word));
    const { store, warnings } = await use(await open());
    await store.write({ token: 'T', receivedAt: Date.now(), expiresAt: Date.now() + 60_000 });
    expect(warnings).toEqual([
      expect.stringContaining(`cannot use the token store ${redis.url}: ${reason}`),
    ]);
    expect(tokenRequests()).toBe(2);
    if (command.includes('LOCK')) expect(redis.cli('get', lock)).toBe('another');
  });

  describe('whose lock', () => {
    /** Returns a fleet without a token, a session of it and its Io, and the key of the lock. */
    async function lockedFleet() {
      const redis = await startRedis();
      const machines = await fleet(redis.env);
      await machines.use(await machines.open());
      const token = redis.cli('keys', '*token');
      redis.cli('del', token);
      const io = machines.machine();
      const session = await machines.open(io);
      return { ...machines, redis, session, io, lock: token.replace(/token$/, 'lock') };
    }
    const turnOf = (action: (confirm: () => Promise<void>) => Promise<string>) => ({
      findExisting: async () => undefined,
      action,
    });

    it('belongs to its owner is renewed, also after it has expired', async () => {
      const { redis, lock, io, session } = await lockedFleet();
      const left: boolean[] = [];
      const turn = turnOf(async (confirm) => {
        for (const command of ['pexpire', 'del']) {
          redis.cli(command, lock, ...(command === 'pexpire' ? ['3000'] : []));
          await confirm();
          left.push(Number(redis.cli('pttl', lock)) > 5_000);
        }
        return 'a token';
      });
      expect(await session.store.takeTurn(turn, io)).toBe('a token');
      expect([left, session.warnings]).toEqual([[true, true], []]);
    });

    it('is left by a killed machine is used after its time limit', async () => {
      const { redis, lock, session, use, tokenRequests } = await lockedFleet();
      redis.cli('set', lock, 'killed', 'px', '700');
      const started = performance.now();
      expect((await use(session)).warnings).toEqual([]);
      expect(performance.now() - started).toBeGreaterThan(500);
      expect(tokenRequests()).toBe(2);
    });

    it('is taken by others for two minutes ends the command', async () => {
      const { redis, lock, io, session } = await lockedFleet();
      redis.cli('set', lock, 'another machine', 'px', '30000');
      let passed = 0;
      const sleep: FakeIo['sleep'] = (milliseconds, signal) => {
        if (milliseconds !== 100) passed += 121_000;
        return io.sleep(milliseconds, signal);
      };
      const clock = { ...io, sleep, now: () => Date.now() + passed };
      const turn = turnOf(async () => 'a token');
      await expect(session.store.takeTurn(turn, clock)).rejects.toMatchObject({
        code: 'timeout',
        message: 'another imgctl has requested a token for 120 s',
      });
    });

    it('is released after an interrupt', async () => {
      const { redis, lock, io, session } = await lockedFleet();
      const turn = turnOf(async () => {
        expect(redis.cli('exists', lock)).toBe('1');
        io.interrupt();
        throw io.signal.reason;
      });
      await expect(session.store.takeTurn(turn, io)).rejects.toMatchObject({ code: 'interrupted' });
      expect(redis.cli('exists', lock)).toBe('0');
    });

    it('was taken by another machine meanwhile lets the command go on without the store', async () => {
      const { redis, lock, io, session } = await lockedFleet();
      let actions = 0;
      const turn = turnOf(async (confirm) => {
        actions += 1;
        redis.cli('set', lock, 'another machine', 'px', '30000');
        await confirm();
        return 'a token';
      });
      expect(await session.store.takeTurn(turn, io)).toBe('a token');
      expect(session.warnings).toEqual([
        `cannot use the token store ${redis.url}: another machine took its lock`,
      ]);
      expect([actions, redis.cli('get', lock)]).toEqual([2, 'another machine']);
    });
  });
});

describe('a token store', () => {
  const answer = (text: string | Buffer) => (socket: net.Socket) => socket.write(text);
  it.each([
    ['is silent', () => {}, 'no reply within 2 s'],
    ['hangs up', (socket: net.Socket) => socket.destroy(), /[Cc]losed/],
    ['speaks HTTP', answer('HTTP/1.1 400 Bad Request\r\n\r\n'), /./],
    ['answers garbage', answer(randomBytes(4_096)), /./],
    ['answers something else', answer('+OK\r\n:-1\r\n*0\r\n'.repeat(9)), /./],
  ])('that %s costs a warning', async (_, serve, reason) => {
    const server = net.createServer((socket) => void serve(socket.on('error', () => {})));
    const { baseUrl } = await listen(server);
    const env = { IMGCTL_TOKEN_STORE: baseUrl.replace('http', 'redis') };
    const { open, use, tokenRequests } = await fleet(env, {}, 500);
    const { warnings, cache } = await use(await open());
    expect(warnings).toEqual([expect.stringMatching(/^cannot use the token store redis:\S+: /)]);
    expect(warnings[0]).toMatch(reason);
    expect([tokenRequests(), cache.read()]).toEqual([1, expect.anything()]);
  });

  it.each([
    [{ IMGCTL_TOKEN_STORE_PASSWORD_FILE: '/nonexistent' }, {}, 'cannot read the file /nonexistent'],
    [{}, { 'token-store-password-command': 'exit 3' }, 'the token store password command ended'],
  ])('without its password costs a warning: %j %j', async (env, settings, reason) => {
    const store = { IMGCTL_TOKEN_STORE: 'redis://127.0.0.1:1', PATH: process.env.PATH };
    const { open, use } = await fleet({ ...store, ...env });
    const { warnings } = await use(await open(undefined, { username: 'demo', ...settings }));
    expect(warnings[0]).toContain(`redis://127.0.0.1:1: ${reason}`);
  });
});

const SEAL = Buffer.alloc(32, 1);

it('a sealed text is opened with the same key and name only', () => {
  const ofAnyText = fc.property(fc.string({ unit: 'binary' }), fc.string(), (text, name) => {
    const sealed = seal(text, name, SEAL);
    expect(unseal(sealed, name, SEAL)).toBe(text);
    expect(unseal(sealed, `${name}x`, SEAL)).toBeUndefined();
    expect(unseal(sealed, name, Buffer.alloc(32, 2))).toBeUndefined();
  });
  fc.assert(ofAnyText);
});

it('a sealed text differs each time, and is not opened if it was changed or truncated', () => {
  expect(seal('canary', '', SEAL)).not.toBe(seal('canary', '', SEAL));
  const bytes = Buffer.from(seal('a token', 'place', SEAL).slice('sealed:'.length), 'base64');
  for (let index = 0; index < bytes.length; index += 1) {
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    for (const data of [changed, bytes.subarray(0, index)]) {
      expect(unseal(`sealed:${data.toString('base64')}`, 'place', SEAL)).toBeUndefined();
    }
  }
});

it('a key is 32 bytes in base64 or hexadecimal', () => {
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    expect(parseKey(SEAL.toString(encoding), 'KEY')).toEqual(SEAL);
  }
  for (const key of ['secret', SEAL.subarray(1).toString('base64'), 'ab'.repeat(31)]) {
    const { message } = thrownBy(() => parseKey(key, 'KEY'));
    expect(message).toBe('KEY is not a key of 32 bytes in base64');
  }
});
