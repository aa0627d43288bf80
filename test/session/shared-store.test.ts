// Tokens in a real Redis server, and what happens if it fails. Each session has a home of its own.

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import tls from 'node:tls';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { parseRedisAddress, type RedisAddress } from '../../src/config/storage-urls.ts';
import { advice } from '../../src/facts.ts';
import { Redis } from '../../src/session/redis.ts';
import { parseKey, seal, unseal } from '../../src/session/sealing.ts';
import type { SharedStore } from '../../src/session/shared-store.ts';
import { TokenRequests } from '../../src/session/token-requests.ts';
import type { HeldMutex, TokenStores } from '../../src/session/token-store.ts';
import { selfSigned } from '../support/certificate.ts';
import { thrownBy } from '../support/errors.ts';
import { type FakeIo, type FakeIoOptions, fakeIo, temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, sharedRedis, startRedis } from '../support/redis.ts';
import { listen } from '../support/sockets.ts';
import { DEMO, type SessionUnderTest, sessionWith, startService } from './harness.ts';

const freshRedis = sharedRedis();

const HOUR = 3_600_000;

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
      io.sleep(milliseconds === 2_000 ? budget : Math.min(milliseconds, 90), signal);
    return { ...io, sleep };
  };
  const open = (
    io = machine(),
    stored: Readonly<Record<string, string>> = { username: 'demo' },
    directory = temporaryDirectory(),
  ) => sessionWith(service.emulator.baseUrl, directory, io.env, io, stored);
  const use = async (session: SessionUnderTest | Promise<SessionUnderTest> = open()) => {
    const used = await session;
    await used.client.serviceRoot();
    return used;
  };
  return { ...service, machine, open, use };
}

/** A fleet whose one token was requested, and the keys of the token and the lock. */
async function fleetWithToken(env: FakeIoOptions['env'] = {}) {
  const redis = await freshRedis();
  const machines = await fleet({ ...redis.env, ...env });
  const { tokens } = await machines.use();
  const token = redis.cli('keys', '*token');
  const unusable = `cannot use the token store ${redis.url}: `;
  const current = (await tokens?.current()) ?? '';
  return { ...machines, redis, current, token, lock: token.replace(/token$/, 'lock'), unusable };
}

/** Stores a token as a request does that got it. */
function storeToken({ stores }: SessionUnderTest, io: FakeIo): Promise<boolean> {
  return underMutex(stores, ({ writeToken }) =>
    writeToken({ token: 'T', receivedAt: io.now(), expiresAt: io.now() + 60_000 }),
  );
}

function underMutex<Result>(stores: TokenStores, act: (mutex: HeldMutex) => Promise<Result>) {
  return stores.use(async (store) => {
    const acquired = await store.acquire<never>(async () => undefined);
    if ('found' in acquired) throw new Error('nothing was looked for');
    const result = await act(acquired.mutex);
    await acquired.mutex.release();
    return result;
  });
}

describe.skipIf(NO_REDIS)(`a shared token store${NO_REDIS}`, () => {
  it('gives one token to all machines, and one more if it is revoked, over TLS and with an ACL user', async () => {
    const redis = await startRedis({ tls: true });
    const { emulator, open, use, tokenRequests } = await fleet(redis.env);
    const stored = { username: 'demo', 'ca-file': redis.caFile };
    const sessions = await Promise.all(Array.from({ length: 8 }, () => open(undefined, stored)));
    for (const expected of [1, 2]) {
      await Promise.all(sessions.map(use));
      expect(tokenRequests()).toBe(expected);
      emulator.expireTokens();
    }
    expect(sessions.flatMap(({ warnings }) => warnings)).toEqual([]);
    expect(redis.cli('keys', '*lock')).toBe('');
    const untrusted = 'no trusted TLS connection: self-signed certificate';
    const { warnings } = await use();
    expect(warnings).toEqual([`cannot use the token store ${redis.url}: ${untrusted}`]);
  });

  it('serves a machine that can write no files, without a warning', async () => {
    const { open, use, tokenRequests } = await fleetWithToken();
    const none = path.join(temporaryDirectory(), 'file', 'below');
    writeFileSync(path.dirname(none), '');
    const { warnings } = await use(open(undefined, undefined, none));
    expect({ warnings, tokenRequests: tokenRequests() }).toEqual({
      warnings: [],
      tokenRequests: 1,
    });
  });

  it('has no connection of a session that was closed, nor has the service', async () => {
    const { use } = await fleet((await freshRedis()).env);
    const sockets = () => process.getActiveResourcesInfo().filter((name) => /^TCPSock/.test(name));
    const before = sockets().length;
    const { close } = await use();
    await close();
    await expect.poll(() => sockets().length).toBeLessThanOrEqual(before);
  });

  it('replaces a token of this machine only if it expires soon', async () => {
    const { machine, open, current } = await fleetWithToken();
    const io = machine();
    const { stores, files } = await open(io);
    const soon = { token: 'old', receivedAt: io.now() - 1_000, expiresAt: io.now() + 10 };
    await files.write(soon);
    expect((await stores.current.read())?.token).toBe(current);
    expect(files.read()?.token).toBe(current);
    await files.write({ ...soon, token: 'own', expiresAt: io.now() + 3_600_000 });
    expect((await stores.current.read())?.token).toBe('own');
  });

  it('leaves no copy on a machine that read the token just before a logout everywhere', async () => {
    const { redis, machine, open, current, token } = await fleetWithToken();
    const { now, ...io } = machine();
    // The clock is read when the store has responded, before the copy is written.
    const { stores, files } = await open({
      ...io,
      now: () => {
        redis.cli('del', token);
        return now();
      },
    });
    expect((await stores.current.read())?.token).toBe(current);
    expect(files.read()).toBeUndefined();
  });

  it('renews a token of another machine a minute before its end, and counts no old token as new', async () => {
    const HOUR = 3_600_000;
    const { redis, machine, open, token, tokenRequests } = await fleetWithToken();
    const io = machine();
    const written = { token: 'T', receivedAt: io.now() - HOUR, expiresAt: io.now() + 50_000 };
    await underMutex((await open(io)).stores, ({ writeToken }) => writeToken(written));
    const reader = await open();
    const read = await reader.stores.current.read();
    expect(Math.abs((read?.receivedAt ?? 0) - written.receivedAt)).toBeLessThan(30_000);
    // Its copy is not replaced by the same token again.
    const copy = () => statSync(`${reader.files.location}`).ino;
    const inode = copy();
    await reader.stores.current.read();
    expect(copy()).toBe(inode);
    await reader.tokens?.current();
    expect(tokenRequests()).toBe(2);
    redis.cli('set', token, `U ${HOUR}`, 'px', '80000');
    const { tokens, stores } = await open();
    expect(await stores.current.read()).toMatchObject({ token: 'U' });
    expect([await tokens?.current(), tokens?.isNew('U')]).toEqual(['U', false]);
  });

  it('keeps tokens of other users and base URLs apart, as long as they live', async () => {
    const redis = await freshRedis();
    const users = ['demo', 'alice'].map((name) => ({ name, password: 'demo' }));
    const { open, tokenRequests } = await fleet(redis.env, { users, tokenTtl: 3_600_000 });
    const other = await fleet(redis.env, { users });
    const tokens = new Set<string | undefined>();
    for (const opened of [open(), open(undefined, { username: 'alice' }), other.open()]) {
      tokens.add(await (await opened).tokens?.current());
    }
    expect([tokens.size, tokenRequests(), other.tokenRequests()]).toEqual([3, 2, 1]);
    expect(redis.cli('keys', '*').split('\n')).toHaveLength(6);
    expect(redis.cli('keys', '*demo*')).toBe('');
    const [first = ''] = redis.cli('keys', '*token').split('\n');
    expect(Number(redis.cli('pttl', first))).toBeGreaterThan(3_000_000);
  });

  it('is the database that the URL names, and is not contacted with IMGCTL_TOKEN', async () => {
    const redis = await startRedis();
    const env = { ...redis.env, IMGCTL_TOKEN_STORE: redis.url.replace(/0$/, '3') };
    const { machine, open, use } = await fleet(env);
    const { tokens } = await use();
    const found = [redis.cli('keys', '*'), redis.cli('-n', '3', 'keys', '*token')];
    expect(found).toEqual(['', expect.stringMatching(/token$/)]);
    redis.cli('shutdown', 'nosave');
    const fixed = machine({ IMGCTL_TOKEN: await tokens?.current() });
    expect((await use(open(fixed))).warnings).toEqual([]);
  });

  it('shares what is known of the limit', async () => {
    const redis = await freshRedis();
    const { open, tokenRequests } = await fleet(redis.env, { tokenLimit: 2 });
    const login = async () => (await open()).tokens?.login(DEMO);
    await login();
    await login();
    await expect(login()).rejects.toThrow('token request limit reached');
    expect(tokenRequests()).toBe(2);
  });

  it.each([
    [24, 24 * HOUR],
    [25, 1],
  ])('remembers a limit that ends in %d hours for %d ms', async (hours, lifetime) => {
    const redis = await freshRedis();
    const { machine, open } = await fleet(redis.env);
    const io = { ...machine(), now: () => 1_900_000_000_000 };
    const { stores } = await open(io);
    const receivedAt = io.now();
    const limit = { remaining: 0, receivedAt, resetsAt: receivedAt + hours * HOUR };
    await stores.current.writeLimit(limit);
    const { resetsAt = receivedAt } = (await stores.current.readLimit()) ?? {};
    const left = resetsAt - receivedAt;
    expect(left > lifetime - HOUR && left <= lifetime).toBe(true);
  });

  it('that stops during a token request leaves its token on this machine', async () => {
    const redis = await startRedis();
    const stop = () => redis.cli('shutdown', 'nosave');
    const { open, tokenRequests } = await fleet(redis.env, { onRequest: stop });
    const session = await open();
    const { token } = (await session.tokens?.login(DEMO)) ?? {};
    expect(session.files.read()?.token).toBe(token);
    expect([tokenRequests(), session.warnings.length]).toEqual([1, 1]);
  });

  async function cutConnections(redis: Awaited<ReturnType<typeof freshRedis>>): Promise<void> {
    redis.cli('client', 'kill', 'type', 'normal');
    // Only the program that asks is left; then the client has to read that its connection ended.
    const clients = () => redis.cli('client', 'list').split('\n').length;
    await expect.poll(clients, { timeout: 20_000 }).toBe(1);
    for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  }

  it('that closed an idle connection is connected to again', async () => {
    const redis = await freshRedis();
    const { open } = await fleet(redis.env);
    const { stores, warnings } = await open();
    await stores.use((store) => store.readRefusal());
    await cutConnections(redis);
    await stores.use((store) => store.readRefusal());
    expect(warnings).toEqual([]);
  });

  it('that closed a connection and lost its data still takes a token', async () => {
    const redis = await freshRedis();
    const { machine, open } = await fleet(redis.env);
    const session = await open();
    const isStored = await underMutex(session.stores, async ({ writeToken }) => {
      redis.cli('del', redis.cli('keys', '*lock'));
      await cutConnections(redis);
      const now = machine().now();
      return writeToken({ token: 'T', receivedAt: now, expiresAt: now + 60_000 });
    });
    const { token } = session.files.read() ?? {};
    expect([isStored, token, session.warnings]).toEqual([true, 'T', []]);
    expect(redis.cli('get', redis.cli('keys', '*token'))).toBe('T 60000');
  });

  const OTHER_KEY = randomBytes(32).toString('base64');
  it.each([
    ['sealed', 'another key', KEY, OTHER_KEY, 'its token is encrypted with another key'],
    ['sealed', 'no key', KEY, undefined, 'its token is encrypted with a key'],
    ['not sealed', 'a key', undefined, KEY, 'its token is not encrypted, but a key is set'],
  ])('whose token is %s is left alone by a machine with %s', async (...row) => {
    const [how, , first, second, reason] = row;
    const env = { IMGCTL_TOKEN_STORE_KEY: first };
    const { redis, machine, open, use, current, ...rest } = await fleetWithToken(env);
    expect((await use()).warnings).toEqual([]);
    expect(rest.tokenRequests()).toBe(1);
    const before = redis.cli('get', rest.token);
    expect(before.includes(current)).toBe(first === undefined);
    const other = machine({ IMGCTL_TOKEN_STORE_KEY: second });
    // A session that has read nothing before it writes.
    await storeToken(await open(other), other);
    const { stores } = await open(other);
    const facts = { kind: 'store-token', needsKey: how === 'sealed' };
    await expect(stores.current.read()).rejects.toMatchObject({ message: reason, facts });
    expect(redis.cli('get', rest.token)).toBe(before);
    const session = await use(open(other));
    await session.tokens?.login(DEMO);
    expect(session.warnings).toEqual([`${rest.unusable}${reason}`]);
    expect(redis.cli('get', rest.token)).toBe(before);
    expect({ tokenRequests: rest.tokenRequests(), read: session.files.read() }).toEqual({
      tokenRequests: 3,
      read: expect.anything(),
    });
  });

  it.each([
    ['is full', 'config set maxmemory 1', 'OOM command not allowed'],
    ['is read-only', 'replicaof 127.0.0.1 1', "READONLY You can't write"],
    ['refuses the password', 'acl setuser imgctl resetpass', 'WRONGPASS invalid'],
    ['denies a command', 'acl setuser imgctl -set', "ERR The user executing the script can't run"],
    [
      'holds something else',
      'set TOKEN pässwort px 1000000',
      'it holds something other than a token',
    ],
  ])('that %s costs a warning, and is left alone', async (_, command, reason) => {
    const { redis, use, machine, token, unusable, tokenRequests } = await fleetWithToken();
    redis.cli('del', token);
    redis.cli(...command.split(' ').map((word) => (word === 'TOKEN' ? token : word)));
    const session = await use();
    await storeToken(session, machine());
    expect(session.warnings).toEqual([expect.stringContaining(`${unusable}${reason}`)]);
    expect(tokenRequests()).toBe(2);
  });

  describe('whose lock', () => {
    /** Sends a token request of a fleet; `act` is called when its password is read. */
    async function inTurn(
      act: (fleet: Awaited<ReturnType<typeof fleetWithToken>>, io: FakeIo) => void | Promise<void>,
      find = async (): Promise<string | undefined> => undefined,
    ) {
      const machines = await fleetWithToken();
      const io = machines.machine();
      const { stores, warnings } = await machines.open(io);
      const left = () => Number(machines.redis.cli('pttl', machines.lock));
      const limit = { remaining: undefined, resetsAt: undefined };
      const requestToken = async () => {
        // It was confirmed after the password was read.
        if (left() > 0) expect(left()).toBeGreaterThan(20_000);
        return { token: 'T', receivedAt: io.now(), expiresAt: io.now() + 60_000, limit };
      };
      const client = () => ({ requestToken });
      const requests = new TokenRequests({ io, stores, client, baseUrl: '', redact: String });
      const read = async () => {
        await act(machines, io);
        return 'demo';
      };
      const passwordSource = { ...DEMO.passwordSource, read };
      const turn = requests.request({ username: 'demo', passwordSource }, find);
      return { ...machines, warnings, turn: () => turn };
    }

    it('is renewed for as long as its holder goes on', async () => {
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      onTestFinished(() => void vi.useRealTimers());
      const { turn, warnings } = await inTurn(async ({ redis, lock }) => {
        const left = () => Number(redis.cli('pttl', lock));
        redis.cli('pexpire', lock, '9000');
        vi.advanceTimersByTime(10_000);
        await expect.poll(left).toBeGreaterThan(9_000);
        redis.cli('pexpire', lock, '9000');
      });
      expect([await turn(), warnings]).toMatchObject([{ isStored: true }, []]);
      expect(vi.getTimerCount()).toBe(0);
    });

    it.each(['get', 'set', 'eval', 'del', 'pttl'])(
      'is never left behind by a user who may not %s, and a check names that command',
      async (command) => {
        const { redis, machine, open, use, token, lock } = await fleetWithToken();
        redis.cli('del', token);
        redis.cli('acl', 'setuser', 'imgctl', `-${command}`);
        await use();
        expect(redis.cli('pttl', lock)).toBe('-2');
        const { stores } = await open(machine());
        await expect(stores.current.testWrite()).rejects.toThrow(`run the '${command}' command`);
      },
    );

    it('is held by another machine for too long is an error of its own', async () => {
      const { redis, lock, machine, open } = await fleetWithToken();
      redis.cli('set', lock, 'another machine', 'px', '30000');
      let time = 0;
      const { stores } = await open({ ...machine(), elapsed: () => (time += 61_000) });
      const turn = stores.current.acquire(async () => undefined);
      const message = 'another imgctl has been requesting a token for 120 s';
      const facts = advice('try again later');
      await expect(turn).rejects.toMatchObject({ code: 'locked', exitCode: 1, message, facts });
    });

    it.each([
      ['went with the token, as if Redis restarted, gets a new token', ['lock', 'token'], true],
      ['expired keeps a token that another machine may have stored', ['lock'], false],
    ] as const)('%s', async (_, lost, isStored) => {
      const { turn, warnings } = await inTurn((machines) => {
        machines.redis.cli('del', ...lost.map((each) => machines[each]));
      });
      expect([await turn(), warnings]).toMatchObject([{ isStored }, []]);
    });

    it.each([
      ['has no time limit', ['another']],
      ['is set for an hour', ['another', 'px', '3600000']],
    ])('%s is taken', async (_, value) => {
      const { redis, lock, token, use, tokenRequests } = await fleetWithToken();
      redis.cli('del', token);
      redis.cli('set', lock, ...value);
      expect([(await use()).warnings, tokenRequests()]).toEqual([[], 2]);
      expect([redis.cli('exists', lock), redis.cli('exists', token)]).toEqual(['0', '1']);
    });

    it('was taken and released by another machine after a logout stores no token', async () => {
      const { turn, redis, token, warnings } = await inTurn(async ({ redis, machine, open }) => {
        const { stores } = await open(machine());
        await (stores.current as SharedStore).account.forgetToken();
        await underMutex(stores, async () => undefined);
        expect(redis.cli('keys', '*lock')).toBe('');
      });
      await expect(turn()).rejects.toThrow('the lock of the token store was removed');
      expect([redis.cli('exists', token), warnings]).toEqual(['0', []]);
    });

    it('is held by a request that is interrupted after its response stores limit and token', async () => {
      const { redis, machine, open, lock, token } = await fleetWithToken();
      const io = machine();
      const { stores, files, warnings } = await open(io);
      const isStored = await underMutex(stores, async ({ writeToken }) => {
        io.interrupt();
        const times = { receivedAt: io.now(), expiresAt: io.now() + 60_000 };
        await stores.current.writeLimit({ ...times, remaining: 3, resetsAt: times.expiresAt });
        return writeToken({ ...times, token: 'T' });
      });
      expect([isStored, files.read()?.token, warnings]).toEqual([true, 'T', []]);
      expect(redis.cli('get', token)).toBe('T 60000');
      expect(redis.cli('get', token.replace(/token$/, 'limit'))).toBe('3');
      expect(redis.cli('exists', lock)).toBe('0');
    });

    it('is released after an interrupt', async () => {
      const { turn, redis, lock } = await inTurn((_, io) => {
        io.interrupt();
        throw io.signal.reason;
      });
      await expect(turn()).rejects.toMatchObject({ code: 'interrupted' });
      expect(redis.cli('exists', lock)).toBe('0');
    });

    it('was taken by another machine leaves that lock alone, and uses the token of that machine', async () => {
      let other: string | undefined;
      const { turn, warnings, redis, lock } = await inTurn(
        (machines) => {
          machines.redis.cli('set', machines.lock, 'another machine', 'px', '30000');
          other = 'its token';
        },
        async () => other,
      );
      expect([await turn(), warnings]).toEqual([{ found: 'its token' }, []]);
      expect(redis.cli('get', lock)).toBe('another machine');
    });
  });
});

describe('a token store', () => {
  it.each([
    ['is silent', () => {}, /no reply within 2 s$/],
    ['hangs up', (socket: net.Socket) => socket.destroy(), /[Cc]losed/],
    [
      'is none',
      (socket: net.Socket) => socket.write('HTTP/1.1 400 Bad\r\n'),
      /closed the connection, or sent an unexpected reply$/,
    ],
    [
      'replies too often',
      (socket: net.Socket) => socket.on('data', () => socket.write('+OK\r\n'.repeat(9))),
      /unexpected reply$/,
    ],
  ])('that %s costs a warning', async (what, serve, reason) => {
    const server = net.createServer((socket) => void serve(socket));
    const { baseUrl } = await listen(server);
    const env = { IMGCTL_TOKEN_STORE: baseUrl.replace('http', 'redis') };
    // Only the silent one is waited for.
    const { use, tokenRequests } = await fleet(env, {}, what === 'is silent' ? 500 : undefined);
    const { warnings, files } = await use();
    expect(warnings).toEqual([expect.stringMatching(/^cannot use the token store redis:\S+: /)]);
    expect(warnings[0]).toMatch(reason);
    expect({ tokenRequests: tokenRequests(), read: files.read() }).toEqual({
      tokenRequests: 1,
      read: expect.anything(),
    });
  });

  const redisAt = (url: string, io = fakeIo(), ca?: string) => {
    const address = parseRedisAddress(url.replace(/^http/, 'redis')) as RedisAddress;
    return new Redis({ address, ca, io, readPassword: async () => undefined });
  };

  it('that is sent what it cannot take is a defect, and no lost connection', async () => {
    const { baseUrl } = await listen(net.createServer((socket) => void socket.resume()));
    const sent = redisAt(baseUrl).send([7 as unknown as string]);
    await expect(sent).rejects.toThrow(TypeError);
  });

  it.each([
    ['localhost', 'localhost'],
    ['127.0.0.1', false],
  ])('on %s is sent the server name %j over TLS', async (host, expected) => {
    const identity = selfSigned('localhost', '127.0.0.1');
    const names: unknown[] = [];
    const server = tls.createServer(identity, (socket) => {
      names.push(socket.servername);
      socket.destroy();
    });
    const url = (await listen(server)).baseUrl.replace('127.0.0.1', host);
    await expect(redisAt(url, fakeIo(), identity.cert).send(['GET', 'a'])).rejects.toThrow();
    expect(names).toEqual([expected]);
  });

  it('that failed once fails for the same reason from then on, without another connection', async () => {
    const events: string[] = [];
    const server = net.createServer((socket) => {
      events.push('opened');
      socket.resume().once('close', () => events.push('closed'));
    });
    const io = fakeIo();
    const sleep: FakeIo['sleep'] = (_, signal) => io.sleep(1, signal);
    const redis = redisAt((await listen(server)).baseUrl, { ...io, sleep });
    const reasons = () => Promise.allSettled([redis.send(['GET', 'a']), redis.send(['GET', 'b'])]);
    const reason = { message: 'no reply within 2 s' };
    expect([...(await reasons()), ...(await reasons())]).toMatchObject(Array(4).fill({ reason }));
    await expect.poll(() => events).toEqual(['opened', 'closed']);
  });

  it('that replies to no command loses the connection', async () => {
    const server = net.createServer();
    const io = fakeIo();
    const limits: (AbortSignal | undefined)[] = [];
    const sleep: FakeIo['sleep'] = (_, signal) => {
      limits.push(signal);
      return io.sleep(60_000, signal);
    };
    const redis = redisAt((await listen(server)).baseUrl, { ...io, sleep });
    const reply = redis.send(['GET', 'a']);
    const [socket]: net.Socket[] = await once(server, 'connection');
    socket?.resume().write('+OK\r\n');
    expect(await reply).toBe('OK');
    // Left running, they would keep the process from ending.
    expect(limits.map((signal) => signal?.aborted)).toEqual([true, true]);
    socket?.write('+OK\r\n');
    if (socket) await once(socket, 'close');
  });

  it('whose password cannot be read costs a warning', async () => {
    const env = { IMGCTL_TOKEN_STORE_PASSWORD_FILE: '/dev/null/missing' };
    const machines = await fleet({ IMGCTL_TOKEN_STORE: 'redis://127.0.0.1:1', ...env });
    const { warnings } = await machines.use();
    const reason = '/dev/null/missing does not exist';
    expect(warnings).toEqual([`cannot use the token store redis://127.0.0.1:1: ${reason}`]);
    const other = await machines.open(machines.machine());
    const facts = advice('create it, or check IMGCTL_TOKEN_STORE_PASSWORD_FILE');
    await expect(other.stores.current.read()).rejects.toMatchObject({ message: reason, facts });
    // After an interrupt it is no matter.
    const io = machines.machine();
    const { stores } = await machines.open(io);
    io.interrupt();
    await expect(stores.current.read()).rejects.toMatchObject({ code: 'interrupted' });
  });
});

const SEAL = Buffer.alloc(32, 1);

it('a sealed text is opened with the same key and name only, and unless it was changed', () => {
  const property = fc.property(fc.string(), fc.string(), fc.nat(), (text, name, position) => {
    const sealed = seal(text, name, SEAL);
    expect(unseal(sealed, name, SEAL)).toBe(text);
    expect(unseal(sealed, `${name}x`, SEAL)).toBeUndefined();
    expect(unseal(sealed, name, Buffer.alloc(32, 2))).toBeUndefined();
    expect(seal(text, name, SEAL)).not.toBe(sealed);
    const bytes = Buffer.from(sealed.slice('sealed:'.length), 'base64');
    const index = position % bytes.length;
    const changed = Buffer.from(bytes);
    changed[index] = (changed[index] ?? 0) ^ 1;
    for (const data of [changed, bytes.subarray(0, index)]) {
      expect(unseal(`sealed:${data.toString('base64')}`, name, SEAL)).toBeUndefined();
    }
  });
  fc.assert(property);
});

it('a key is 32 bytes in base64', () => {
  for (const encoding of ['base64', 'base64url'] as const) {
    expect(parseKey(SEAL.toString(encoding), 'KEY')).toEqual(SEAL);
  }
  const spaced = [...SEAL.toString('base64')].join(' ');
  const key64 = SEAL.toString('base64');
  const padded = [`x${key64}`, `${key64}x`];
  for (const key of [
    'secret',
    ...padded,
    SEAL.subarray(1).toString('base64'),
    SEAL.toString('hex'),
    spaced,
  ]) {
    expect(thrownBy(() => parseKey(key, 'KEY'))).toMatchObject({
      message: 'KEY is not a key of 32 bytes in base64',
      facts: { text: 'create one with: openssl rand -base64 32' },
    });
  }
});
