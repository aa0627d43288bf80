// The commands that show, check and delete a token in a shared store.

import fs, { cpSync, readdirSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, STORE_PASSWORD, sharedRedis, startRedis } from '../support/redis.ts';
import { listen } from '../support/sockets.ts';
import { expectSteps } from '../support/steps.ts';
import { type Environment, emulatorUser, localUser, PASSWORD } from '../support/users.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

const freshRedis = sharedRedis();

/** A user of two machines who share a store. */
async function fleetUser(start = freshRedis) {
  const redis = await start();
  const user = await emulatorUser();
  const on = (env: Environment) => (line: string | readonly string[]) =>
    user.imgctl(line, { env: { ...redis.env, ...env } });
  const there = on({ IMGCTL_CONFIG_DIR: temporaryDirectory() });
  /** Returns what doctor says about the store, as `state: finding -> hint`. */
  const doctor = async (env: Environment = {}) => {
    const { stdout } = await on(env)('doctor --json');
    const row = JSON.parse(stdout).find(({ check }: { check: string }) => check === 'token store');
    return row ? `${row.state}: ${row.finding} -> ${row.hint}` : '';
  };
  return { ...user, redis, here: on({}), there, login: () => on(PASSWORD)('login'), doctor };
}

/** An open connection would keep the process from ending. */
function expectClosed({ cli }: Awaited<ReturnType<typeof freshRedis>>) {
  return vi.waitFor(() => expect(cli('client', 'list')).not.toContain('user=imgctl'));
}

describe('logout --all with a token store', () => {
  const accountOf = (store: string) => ({
    'base-url': 'https://images.example.com',
    username: 'demo',
    'token-store': store,
  });

  it('names the profile whose store must not be used', async () => {
    const profiles = { default: accountOf('redis://192.0.2.1'), work: {} };
    const { imgctl } = localUser({ profile: 'work', profiles });
    const result = await imgctl('logout --all');
    expect(result).toMatchObject(failed(2, 'config set allow-http true --profile default'));
  });

  it('uses the one that a variable names for every profile', async () => {
    const { 'token-store': store, ...stored } = accountOf('redis://192.0.2.1');
    const profiles = { default: stored, work: {} };
    const { imgctl } = localUser({ profile: 'work', profiles }, { IMGCTL_TOKEN_STORE: store });
    const message = 'imgctl: plain redis:// would expose tokens sent to 192.0.2.1\n';
    expect(await imgctl('logout --all')).toEqual(failed(2, message));
  });

  it('passes by an invalid profile without one', async () => {
    const profiles = { default: { 'base-url': 'ftp://host' }, work: {} };
    const { imgctl } = localUser({ profile: 'work', profiles });
    expect((await imgctl('logout --all')).exitCode).toBe(0);
  });

  it('that sends its password back shows nothing of it, wherever it is cut', async () => {
    let length = 0;
    const echo = net.createServer((socket) => {
      socket.on('data', () => socket.write(`-${'x'.repeat(length)} ${STORE_PASSWORD}\r\n`));
    });
    const store = (await listen(echo)).baseUrl.replace('http', 'redis');
    const env = { IMGCTL_TOKEN_STORE_PASSWORD: STORE_PASSWORD };
    const { imgctl } = localUser({ profiles: { default: accountOf(store) } }, env);
    // A message has at most 120 characters.
    for (length = 90; length < 115; length += 3) {
      const { stderr } = await imgctl('logout --all');
      expect(stderr).toMatch(/: x+ \*\*\*…?\n/);
    }
  });

  it('that is silent can be interrupted', async () => {
    const silent = net.createServer((socket) => {
      socket.once('data', () => io.interrupt()).on('error', () => {});
    });
    const store = (await listen(silent)).baseUrl.replace('http', 'redis');
    const io = fakeIo({ env: localUser({ profiles: { default: accountOf(store) } }).env });
    expect((await runCli(['logout', '--all'], io)).exitCode).toBe(130);
  });
});

describe.skipIf(NO_REDIS)(`a shared token store${NO_REDIS}`, () => {
  it('gives its token to other machines until logout --all', async () => {
    const { redis, here, there, login, requests } = await fleetUser();
    await login();
    requests.length = 0;
    await expectSteps(there, ['whoami --json', { token_state: 'valid', stored_in: redis.url }]);
    expect(requests).toEqual([]);
    await expectSteps(there, ['images list --limit 1 -q', '1055\n']);
    await expectSteps(here, ['logout', '', /logged out of \S+ as demo\n$/]);
    expect((await there('whoami')).exitCode).toBe(0);
    const refused = redis.cli('keys', '*token').replace(/token$/, 'refused');
    redis.cli('set', refused, '{}', 'px', '60000');
    const deleted = `imgctl: logged out\nimgctl: deleted the token in ${redis.url}\n`;
    await expectSteps(there, ['logout --all', '', deleted]);
    expect((await there('whoami')).exitCode).toBe(4);
    expect(redis.cli('exists', refused)).toBe('0');
    await expectSteps(here, ['logout --all']);
    await expectClosed(redis);
  });

  it('takes the token of a login that no file can take, unless it is down', async () => {
    const { redis, here, requests } = await fleetUser(startRedis);
    const login = `IMGCTL_PASSWORD=demo IMGCTL_CONFIG_DIR=/dev/null/x login`;
    expect((await here(login)).exitCode).toBe(0);
    expect(redis.cli('keys', '*token')).not.toBe('');
    await redis.stop();
    requests.length = 0;
    const { stderr, exitCode } = await here(login);
    const warning = `cannot use the token store ${redis.url}: the connection was refused`;
    const hint = 'using the tokens of this machine; check: imgctl doctor';
    expect(stderr).toContain(`imgctl: warning: ${warning}\nhint: ${hint}\nimgctl: cannot store `);
    expect({ exitCode, requests }).toEqual({ exitCode: 1, requests: [] });
  });

  it('leaves no copy that a run writes before logout --all has deleted the token', async () => {
    const { imgctl, redis, login, directory } = await fleetUser();
    await login();
    const [tokens, copy] = [path.join(directory, 'tokens'), temporaryDirectory()];
    cpSync(tokens, copy, { recursive: true });
    const env = {
      ...redis.env,
      IMGCTL_TOKEN_STORE_PASSWORD: undefined,
      // Asked for when the files are deleted and the store is opened.
      IMGCTL_TOKEN_STORE_PASSWORD_COMMAND: `cp ${copy}/* ${tokens}/; echo ${STORE_PASSWORD}`,
    };
    expect((await imgctl('logout --all', { env })).exitCode).toBe(0);
    expect(redis.cli('keys', '*token')).toBe('');
    expect(readdirSync(tokens).filter((name) => name.startsWith('_token'))).toEqual([]);
  });

  it('that is down lets logout --all fail, after it deleted everything else', async () => {
    const { redis, here, login } = await fleetUser(startRedis);
    await login();
    await redis.stop();
    const { stderr, exitCode } = await here('logout --all');
    const message = `cannot delete the token in ${redis.url}: the connection was refused\nhint: when the token store works again, run: imgctl logout --all\n`;
    expect([stderr.includes(message), exitCode]).toEqual([true, 3]);
    expect(stderr).toContain('imgctl: logged out\n');
  });

  it('loses its token by logout --all even if the copy cannot be removed', async () => {
    const { redis, here, login } = await fleetUser();
    await login();
    const remove = vi.spyOn(fs, 'rmSync').mockImplementation(() => {
      throw Object.assign(new Error(), { code: 'EBUSY' });
    });
    onTestFinished(() => remove.mockRestore());
    expect(await here('logout --all')).toMatchObject(
      failed(
        2,
        /^.*deleted the token in .*\nimgctl: cannot remove .*: resource busy.*\nhint: .*\n$/,
      ),
    );
    expect(redis.cli('keys', '*token')).toBe('');
  });

  it('is checked by doctor: its password, its memory and whether tokens are encrypted', async () => {
    const { redis, doctor, login } = await fleetUser();
    const sealed = { IMGCTL_TOKEN_STORE_KEY: KEY };
    expect(await doctor()).toMatch(/^ok: \S+: reachable, tokens are not encrypted/);
    expect(await doctor(sealed)).toMatch(/^ok: .*tokens are encrypted/);
    expect(await doctor({ IMGCTL_TOKEN_STORE: 'file' })).toBe('');
    await login();
    expect(await doctor(sealed)).toMatch(/^warning: .* -> delete it: imgctl logout --all$/);
    expect(await doctor({ IMGCTL_TOKEN_STORE_PASSWORD: 'canary' })).toMatch(
      /^warning: cannot use redis:\S+: WRONGPASS.* -> check its address, password, permissions and ca-file; see: imgctl help fleet$/,
    );
    redis.cli('config', 'set', 'maxmemory', '1');
    expect(await doctor()).toContain(': OOM');
    await expectClosed(redis);
  });
});

const PLAIN = 'plain redis:// would expose tokens sent to redis.example.com\nhint: use rediss://';

it.each([
  ['IMGCTL_TOKEN_STORE', 'redis://redis.example.com', PLAIN],
  ['IMGCTL_TOKEN_STORE', 'redis://bob:canary@localhost/0', 'must not contain a password'],
  ['IMGCTL_TOKEN_STORE', 'https://bob:canary@localhost', 'invalid token-store'],
  ['IMGCTL_TOKEN_STORE_KEY', 'canary', 'IMGCTL_TOKEN_STORE_KEY is not a key of 32 bytes'],
  ['IMGCTL_TOKEN_STORE_KEY_FILE', '/dev/null/missing', '/dev/null/missing does not exist'],
])('the token store rejects %s=%s without a request', async (name, value, message) => {
  const { imgctl, requests } = await emulatorUser();
  const env = { ...PASSWORD, IMGCTL_TOKEN_STORE: 'redis://LOCALHOST', [name]: value };
  const result = await imgctl('images list', { env });
  expect(result).toEqual(failed(2, message));
  expect([result.stderr.includes('canary'), requests]).toEqual([false, []]);
  const { stdout } = await imgctl('doctor --json', { env });
  expect(stdout).toMatch(/"state": "failed"/);
});
