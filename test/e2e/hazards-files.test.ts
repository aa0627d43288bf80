// Hazards of files: readable by others, broken or replaced by links, against the built program.

import {
  chmodSync,
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
import { describe, expect, it } from 'vitest';
import { catalogueOf, cataloguePage, testImages } from '../support/catalogue-page.ts';
import {
  COMMAND,
  type Environment,
  issue,
  LIST,
  runBuilt,
  scriptedService,
  TOKEN_REQUEST,
  withClockAhead,
} from '../support/cli.ts';
import { modeOf } from '../support/files.ts';
import { type CliResult, runCli } from '../support/io.ts';

const tokenRequests = ({ sent }: { sent: () => string[] }) =>
  sent().filter((line) => line === TOKEN_REQUEST).length;

const loginHere = (env: Environment) => runCli(['login'], { env });

/** Returns a user who logged in (in this process, which is faster) and the paths of the files. */
async function loggedIn(login: (env: Environment) => Promise<CliResult> = loginHere) {
  const service = await scriptedService({
    [TOKEN_REQUEST]: [issue('T1'), issue('T2'), issue('T3')],
    'GET /v2/image': { json: cataloguePage(new URL('http://x/v2/image?expand=1'), testImages(1)) },
  });
  const env = service.user;
  expect(await login(env)).toMatchObject({ exitCode: 0 });
  const directory = path.join(env.HOME, '.config/imgctl');
  const tokens = path.join(directory, 'tokens');
  const name = readdirSync(tokens).find((entry) => entry.startsWith('_token.')) ?? '';
  return { service, env, directory, tokens, token: path.join(tokens, name) };
}

describe('the token file', () => {
  it('is readable only by its owner, whatever the umask', async () => {
    const { directory, tokens, token } = await loggedIn((env) =>
      runBuilt(['login'], { env, prelude: 'umask 0' }),
    );
    expect([directory, tokens, token].map(modeOf)).toEqual(['700', '700', '600']);
  });

  it('is made private by the next run if others can read it', async () => {
    const { service, env, token } = await loggedIn();
    chmodSync(token, 0o644);
    expect(await runBuilt(LIST, { env })).toMatchObject({ stderr: '', exitCode: 0 });
    expect(modeOf(token)).toBe('600');
    expect(tokenRequests(service)).toBe(1);
  });

  it.each([{}, { SNAP: '/snap/imgctl/1' }])(
    'is neither read nor written through a link (%o)',
    async (snap) => {
      const { service, env, token } = await loggedIn();
      const target = path.join(env.HOME, 'target');
      renameSync(token, target);
      symlinkSync(target, token);
      const before = readFileSync(target, 'utf8');
      const result = await runBuilt(['images', 'list'], { env: { ...env, ...snap } });
      expect(result).toMatchObject({ exitCode: 0 });
      expect(result.stderr).toMatch(/^imgctl: warning: .*symbolic link; the file is ignored\n$/);
      expect(readFileSync(target, 'utf8')).toBe(before);
      expect(statSync(token).isFile() && modeOf(token)).toBe('600');
      expect(readFileSync(token, 'utf8')).toContain('T2');
      expect(tokenRequests(service)).toBe(2);
    },
  );

  it.each([
    ['empty', ''],
    ['truncated', '{"token": "s3cret-tok'],
    ['an array', '["s3cret"]'],
    ['of another shape', '{"token": 5, "s3cret": true}'],
    ['invalid in a header', '{"token": "s3cret\\u0000", "received_at": 1, "expires_at": 9e15}'],
  ])('is replaced by a login with one warning if it is %s', async (_how, text) => {
    const { service, env, token } = await loggedIn();
    writeFileSync(token, text);
    const result = await runBuilt(LIST, { env });
    expect(result.exitCode).toBe(0);
    expect(JSON.parse(result.stdout)).toHaveLength(1);
    expect(result.stderr).toMatch(/"warning".*is ignored"\}\}\n$/);
    expect(result.stderr.split('\n')).toHaveLength(2);
    expect(result.stderr).not.toContain('s3cret');
    expect(tokenRequests(service)).toBe(2);
    expect(JSON.parse(readFileSync(token, 'utf8'))).toMatchObject({ token: 'T2' });
  });

  it('stays unchanged if it is a directory, and the run still uses the new token', async () => {
    const { env, token } = await loggedIn();
    rmSync(token);
    mkdirSync(token);
    const result = await runBuilt(['images', 'list', '-q'], { env });
    expect(result).toMatchObject({ stdout: '1\n', exitCode: 0 });
    expect(result.stderr).toContain('it is used for this run only');
    expect(readdirSync(token)).toEqual([]);
  });

  it('is read with a byte order mark', async () => {
    const { service, env, token } = await loggedIn();
    writeFileSync(token, `\ufeff${readFileSync(token, 'utf8')}`);
    expect(await runBuilt(LIST, { env })).toMatchObject({ stderr: '', exitCode: 0 });
    expect(tokenRequests(service)).toBe(1);
  });
});

it('logout removes every token that the profile used, also one of a release candidate', async () => {
  const { service, env, tokens } = await loggedIn();
  const run = (line: string, username = 'demo') =>
    runBuilt(line.split(' '), { env: { ...env, IMGCTL_USERNAME: username } });
  expect(await run('images list -q --profile work')).toMatchObject({ stdout: '1\n', exitCode: 0 });
  expect(tokenRequests(service)).toBe(1);
  expect(await run('login', 'bob')).toMatchObject({ exitCode: 0 });
  writeFileSync(path.join(tokens, 'default.0123456789abcdef.json'), '{"token": "T0"}');
  expect(await run('logout', 'bob')).toEqual({
    stdout: '',
    stderr:
      'imgctl: logged out (deleted 3 tokens)\nimgctl: also logged out, with the same token: work\n',
    exitCode: 0,
  });
  expect(readdirSync(tokens).filter((name) => !name.startsWith('_limit.'))).toEqual([]);
});

describe('the settings file', () => {
  it.each([
    ['empty', '', 'line 1, column 1'],
    ['truncated', '{\n"s3cret": "s3', 'line 2, column 14'],
    ['an array', '["s3cret"]', 'JSON object'],
    ['of another shape', '{"profiles": {"default": {"timeout": {"s3cret": 1}}}}', 'timeout is not'],
  ])(
    'causes an error with its position and stays unchanged if it is %s',
    async (_how, text, place) => {
      const { service, env, directory } = await loggedIn();
      const file = path.join(directory, 'config.json');
      writeFileSync(file, text);
      const before = service.sent();
      for (const argv of [
        ['images', 'list'],
        ['config', 'set', 'timeout', '5s'],
      ]) {
        const result = await runBuilt(argv, { env });
        expect(result).toMatchObject({ stdout: '', exitCode: 2 });
        expect(result.stderr).toContain(file);
        expect(result.stderr).toContain(place);
        expect(result.stderr).not.toContain('s3cret');
      }
      expect(readFileSync(file, 'utf8')).toBe(text);
      expect(service.sent()).toEqual(before);
    },
  );

  it('is read with a byte order mark', async () => {
    const { env, directory } = await loggedIn();
    const file = path.join(directory, 'config.json');
    writeFileSync(file, `\ufeff${readFileSync(file, 'utf8')}`);
    const result = await runBuilt(['config', 'get', 'username'], { env });
    expect(result).toEqual({ stdout: 'demo\n', stderr: '', exitCode: 0 });
  });

  it('holds the settings of twenty processes that each set one', async () => {
    const { env, directory } = await loggedIn();
    const names = Array.from({ length: 20 }, (_, index) => `p${index}`);
    const set = (name: string) =>
      runBuilt(['config', 'set', 'timeout', '5s', '--profile', name], { env });
    const results = await Promise.all(names.map(set));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0));
    const { profiles } = JSON.parse(readFileSync(path.join(directory, 'config.json'), 'utf8'));
    expect(Object.keys(profiles).sort()).toEqual(['default', ...names].sort());
    expect(modeOf(path.join(directory, 'config.json'))).toBe('600');
  });
});

it.skipIf(COMMAND.length === 1)(
  'images lock holds every name that ten processes add whose clocks are 10 s apart',
  async () => {
    const { env } = await scriptedService((request, index) =>
      catalogueOf(testImages(1))(request, index),
    );
    const envs = [env, withClockAhead(env, 10_000), withClockAhead(env, -10_000)];
    const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
    const file = path.join(env.HOME, 'images.lock.json');
    const results = await Promise.all(
      names.map((name, index) =>
        runBuilt(['images', 'lock', 'add', name, 'image', '--file', file], {
          env: envs[index % 3] ?? env,
        }),
      ),
    );
    expect(results.filter(({ exitCode }) => exitCode !== 0)).toEqual([]);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')).images).sort()).toEqual(names);
  },
);

it.each(['../../x', '-x', '', '__proto__'])(
  'login rejects a profile named %j and writes nothing',
  async (name) => {
    const service = await scriptedService({});
    const result = await runBuilt(['login', `--profile=${name}`], { env: service.user });
    expect(result).toMatchObject({ stdout: '', exitCode: 2 });
    expect(readdirSync(service.user.HOME)).toEqual([]);
    expect(service.sent()).toEqual([]);
  },
);

it('login names an unknown option without its value, which may be a secret', async () => {
  const service = await scriptedService({});
  const result = await runBuilt(['login', '--password=s3cret'], { env: service.user });
  expect(result).toMatchObject({ stdout: '', exitCode: 2 });
  expect(result.stderr).toMatch(/^imgctl: unknown option '--password'\nhint: /);
  expect(result.stderr).not.toContain('s3cret');
});

it('login works in a deleted current directory', async () => {
  const { user } = await scriptedService({ [TOKEN_REQUEST]: issue('T1') });
  const { IMGCTL_PASSWORD: password, ...rest } = user;
  const result = await runBuilt(['login'], {
    env: { ...rest, IMGCTL_PASSWORD_COMMAND: `echo ${password}` },
    prelude: 'mkdir "$HOME/gone"; cd "$HOME/gone"; rmdir "$HOME/gone"',
  });
  expect(result.exitCode).toBe(0);
  expect(result.stderr).toMatch(/^imgctl: logged in to .*\n$/);
});
