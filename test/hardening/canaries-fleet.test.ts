// A token store and a credential helper, traced: the secrets of both show nowhere but in their own places.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { account } from '../support/cli.ts';
import { fakeHelper } from '../support/credential-helper.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { NO_REDIS, REDIS_REASON, STORE_PASSWORD, startRedis } from '../support/redis.ts';
import {
  formsOfToken,
  newSecrets,
  placesOf,
  recordingCommand,
  tokensBelow,
  watchedRun,
  withTemporaryFolder,
} from './canaries.ts';

const KEY = Buffer.from('canary of a key: 32 bytes, never').toString('base64');

const COMMANDS = [
  'login --store-password --password-stdin',
  'whoami --check',
  'images list --limit 1',
  'images list --limit 1',
  'config list',
  'doctor',
  'profile list',
  'logout --all',
  'images list --limit 1',
];

it.skipIf(NO_REDIS)(
  `shows no secret of a token store or a credential helper${REDIS_REASON}`,
  { timeout: 120_000 },
  async () => {
    const redis = await startRedis();
    const secrets = newSecrets();
    const { user } = secrets;
    const emulator = await serve({ users: [user], tokenLimit: 1_000 });
    const helper = fakeHelper();
    const recorder = recordingCommand(STORE_PASSWORD);
    const { IMGCTL_PASSWORD: _password, ...plain } = account(emulator.baseUrl, user.name);
    const env = {
      ...withTemporaryFolder(plain),
      PATH: helper.PATH,
      IMGCTL_TOKEN_STORE: redis.url,
      IMGCTL_TOKEN_STORE_KEY_FILE: path.join(temporaryDirectory(), 'key'),
    };
    writeFileSync(env.IMGCTL_TOKEN_STORE_KEY_FILE, KEY);
    const config = path.join(env.HOME, '.config/imgctl');
    mkdirSync(config, { recursive: true });
    const settings = {
      'credential-helper': 'fake',
      'token-store-password-command': recorder.command,
    };
    const file = path.join(config, 'config.json');
    writeFileSync(file, JSON.stringify({ profiles: { default: settings } }));

    const tokens = new Set<string>();
    const found: Record<string, readonly string[]> = {};
    const check = async (argv: readonly string[], changes: Record<string, string> = {}) => {
      const stdin = argv[0] === 'login' ? `${user.password}\n` : undefined;
      const ended = await watchedRun([...argv, '--debug'], { env: { ...env, ...changes }, stdin });
      for (const token of tokensBelow(env.HOME)) tokens.add(token);
      const base64 = Buffer.from(STORE_PASSWORD).toString('base64');
      const own = [...secrets.forms, STORE_PASSWORD, base64, KEY];
      const forms = [...own, ...[...tokens].flatMap(formsOfToken)];
      // A new child is a copy of imgctl, with its variables, until it runs its program.
      const run = Object.keys(changes).length > 0 ? { ...ended, processes: '' } : ended;
      const places = placesOf(forms, run, [env.HOME], { stdout: true });
      const seen = recorder.seen() + helper.calls().map(withoutRecord).join();
      if (forms.some((form) => seen.includes(form))) places.push('a child');
      const value = redis.cli('get', redis.cli('keys', '*token'));
      if (forms.some((form) => value.includes(form))) places.push('the store');
      if (places.length > 0) found[argv.join(' ')] = places;
      return ended.exitCode;
    };
    const codes: number[] = [];
    for (const command of COMMANDS) {
      emulator.expireTokens();
      codes.push(await check(command.split(' ')));
    }
    expect(codes).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 4]);
    expect(tokens.size).toBeGreaterThan(2);
    expect(helper.calls().length).toBeGreaterThan(4);
    expect(recorder.seen()).toContain('PATH=');
    // Children get none of the variables that hold a secret.
    const variables = { IMGCTL_TOKEN_STORE_KEY: KEY, IMGCTL_TOKEN: '' };
    expect(await check(['login', '--store-password', '--password-stdin'], variables)).toBe(0);
    const stored = { ...variables, IMGCTL_TOKEN_STORE_PASSWORD: STORE_PASSWORD };
    emulator.expireTokens();
    expect(await check(['images', 'list', '--limit', '1'], stored)).toBe(0);
    // Redis refuses the password, and the password command fails.
    redis.cli('acl', 'setuser', 'imgctl', 'resetpass');
    const password = { IMGCTL_PASSWORD: user.password };
    expect(await check(['images', 'list', '--limit', '1'], password)).toBe(0);
    emulator.expireTokens();
    const given = { ...password, IMGCTL_TOKEN_STORE_PASSWORD: STORE_PASSWORD };
    expect(await check(['images', 'list', '--limit', '1'], given)).toBe(0);
    await redis.stop();
    expect(await check(['doctor'], given)).toBe(0);
    expect(found).toEqual({});
  },
);

/** Removes what the helper read on stdin: the record that it stores. */
function withoutRecord(call: string): string {
  return call.replace(/^\{.*\}$/m, '');
}
