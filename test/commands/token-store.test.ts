// The commands that show, check and delete a token in a shared store.

import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type FakeIoOptions, failed, fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, STORE_PASSWORD, startRedis } from '../support/redis.ts';
import { configDirectory, emulatorUser, PASSWORD } from '../support/users.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');

/** A user of two machines who share a store. */
async function fleetUser() {
  const redis = await startRedis();
  const user = await emulatorUser();
  const imgctl = (command: string, env: FakeIoOptions['env'] = {}) =>
    user.imgctl(command, { env: { ...redis.env, ...env } });
  const elsewhere = { IMGCTL_CONFIG_DIR: temporaryDirectory() };
  return { ...user, redis, imgctl, elsewhere };
}

const findingOf = (stdout: string, check: string) =>
  (JSON.parse(stdout) as { check: string }[]).filter((finding) => finding.check === check);

describe('logout --all with a token store', () => {
  const accountOf = (store: string) => ({
    'base-url': 'https://images.example.com',
    username: 'demo',
    'token-store': store,
  });

  it('names the profile whose store must not be used', async () => {
    const IMGCTL_CONFIG_DIR = temporaryDirectory();
    const profiles = { default: accountOf('redis://192.0.2.1'), work: {} };
    const config = JSON.stringify({ profile: 'work', profiles });
    writeFileSync(path.join(IMGCTL_CONFIG_DIR, 'config.json'), config);
    const result = await runCli(['logout', '--all'], { env: { IMGCTL_CONFIG_DIR } });
    expect(result).toMatchObject(failed(2, 'config set allow-http true --profile default'));
  });

  it('that is silent can be interrupted', async () => {
    const silent = net.createServer();
    onTestFinished(() => void silent.close());
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const { port } = silent.address() as net.AddressInfo;
    const IMGCTL_CONFIG_DIR = configDirectory(accountOf(`redis://127.0.0.1:${port}`));
    const io = fakeIo({ env: { IMGCTL_CONFIG_DIR } });
    silent.on('connection', (socket) => {
      socket.once('data', () => io.interrupt());
      socket.on('error', () => {});
    });
    expect((await runCli(['logout', '--all'], io)).exitCode).toBe(130);
  });
});

describe.skipIf(NO_REDIS)(`a shared token store${REDIS_REASON}`, () => {
  it('is where whoami finds the token of another machine', async () => {
    const { redis, imgctl, elsewhere, requests } = await fleetUser();
    await imgctl('login', PASSWORD);
    requests.length = 0;
    const { stdout, exitCode } = await imgctl('whoami --json', elsewhere);
    expect(JSON.parse(stdout)).toMatchObject({ token: 'valid', stored_in: redis.url });
    expect([exitCode, requests]).toEqual([0, []]);
  });

  it('gives its token to commands without a password', async () => {
    const { imgctl, elsewhere } = await fleetUser();
    await imgctl('login', PASSWORD);
    expect(await imgctl('images list --limit 1 -q', elsewhere)).toEqual({
      stdout: '1001\n',
      stderr: '',
      exitCode: 0,
    });
  });

  it('keeps its token after logout, but not after logout --all', async () => {
    const { redis, imgctl, elsewhere } = await fleetUser();
    await imgctl('login', PASSWORD);
    expect((await imgctl('logout')).stderr).toBe('imgctl: logged out\n');
    expect((await imgctl('whoami', elsewhere)).exitCode).toBe(0);
    expect(await imgctl('logout --all', elsewhere)).toEqual({
      stdout: '',
      stderr: `imgctl: deleted 1 token\nimgctl: deleted the token in ${redis.url}\n`,
      exitCode: 0,
    });
    expect((await imgctl('whoami', elsewhere)).exitCode).toBe(4);
    expect((await imgctl('logout --all')).stderr).toBe('imgctl: you were not logged in\n');
  });

  it('that is down lets logout --all fail, after it deleted everything else', async () => {
    const { redis, imgctl } = await fleetUser();
    await imgctl('login', PASSWORD);
    await redis.stop();
    const message = `cannot delete the token in ${redis.url}: the connection was refused\nhint: run imgctl logout`;
    const { stderr, exitCode } = await imgctl('logout --all');
    expect([stderr.includes(message), exitCode]).toEqual([true, 3]);
    expect(stderr).toContain('imgctl: deleted 1 token\n');
  });

  it('is checked by doctor: its time, the clock and the seal', async () => {
    const { redis, imgctl } = await fleetUser();
    const doctor = async (env?: FakeIoOptions['env']) =>
      findingOf((await imgctl('doctor --json', env)).stdout, 'token store');
    const state = 'ok';
    const ok = (what: string) => [
      expect.objectContaining({ state, finding: expect.stringMatching(what) }),
    ];
    expect(await doctor()).toEqual(
      ok(`^${redis.url}: reachable in \\d+ ms, tokens are not sealed$`),
    );
    expect(await doctor({ IMGCTL_TOKEN_STORE_KEY: KEY })).toEqual(ok('tokens are sealed'));
    expect(await doctor({ IMGCTL_TOKEN_STORE: 'file' })).toEqual([]);
    await imgctl('login', PASSWORD);
    expect(await doctor({ IMGCTL_TOKEN_STORE_KEY: KEY })).toMatchObject([
      { state: 'warning', hint: 'delete it: imgctl logout --all' },
    ]);
    const wrong = await doctor({ IMGCTL_TOKEN_STORE_PASSWORD: 'canary' });
    expect(wrong).toEqual([
      {
        check: 'token store',
        state: 'warning',
        finding: expect.stringMatching(`^cannot use ${redis.url}: WRONGPASS`),
        hint: expect.stringContaining('imgctl help fleet'),
      },
    ]);
    redis.cli('config', 'set', 'maxmemory', '1');
    expect(await doctor()).toMatchObject([{ finding: expect.stringContaining(': OOM') }]);
  });

  it('with a lock that has no time limit is a warning of doctor, which names the key to delete', async () => {
    const { redis, imgctl } = await fleetUser();
    await imgctl('login', PASSWORD);
    const lock = redis.cli('keys', '*token').replace(/token$/, 'lock');
    redis.cli('set', lock, 'another program');
    const { stdout } = await imgctl('doctor --json');
    expect(findingOf(stdout, 'token store')).toEqual([
      expect.objectContaining({
        state: 'warning',
        finding: `cannot use ${redis.url}: its lock has no time limit`,
        hint: `delete the key ${lock} in the store`,
      }),
    ]);
  });

  it('shows its password in no output of --debug', async () => {
    const { imgctl } = await fleetUser();
    const env = { ...PASSWORD, IMGCTL_TOKEN_STORE_KEY: KEY };
    const outputs = [
      await imgctl('images list --limit 1 --debug', env),
      await imgctl('doctor', env),
    ];
    expect(JSON.stringify(outputs)).not.toContain(STORE_PASSWORD);
    expect(JSON.stringify(outputs)).not.toContain(KEY);
  });
});

describe('the setting token-store', () => {
  it('accepts plain redis only for this machine, or with allow-http', async () => {
    const { imgctl, requests } = await emulatorUser();
    const env = { ...PASSWORD, IMGCTL_TOKEN_STORE: 'redis://redis.example.com' };
    expect(await imgctl('images list', { env })).toEqual(
      failed(
        2,
        'plain redis:// would expose tokens sent to redis.example.com\nhint: use rediss://',
      ),
    );
    expect(requests).toEqual([]);
    const doctor = await imgctl('doctor --json', { env });
    expect(findingOf(doctor.stdout, 'token store')).toMatchObject([{ state: 'failed' }]);
  });

  it.each([
    ['IMGCTL_TOKEN_STORE', 'redis://bob:canary@localhost/0', 'must not contain a password'],
    ['IMGCTL_TOKEN_STORE', 'https://bob:canary@localhost', 'invalid token-store'],
    ['IMGCTL_TOKEN_STORE_KEY', 'canary', 'IMGCTL_TOKEN_STORE_KEY is not a key of 32 bytes'],
    ['IMGCTL_TOKEN_STORE_KEY_FILE', '/nonexistent', 'cannot read the key file /nonexistent'],
  ])('rejects %s=%s without a request', async (name, value, message) => {
    const { imgctl, requests } = await emulatorUser();
    const env = { ...PASSWORD, IMGCTL_TOKEN_STORE: 'redis://localhost', [name]: value };
    const result = await imgctl('images list', { env });
    expect(result).toEqual(failed(2, message));
    expect([result.stderr.includes('canary'), requests]).toEqual([false, []]);
  });

  it('is never set to a URL with a password', async () => {
    const { imgctl } = await emulatorUser();
    const result = await imgctl('config set token-store redis://bob:canary@localhost/0');
    expect(result).toEqual(failed(2, 'token-store must not contain a password'));
    expect(result.stderr).not.toContain('canary');
  });
});
