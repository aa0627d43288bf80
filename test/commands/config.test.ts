// config: settings of profiles, their origins and invalid values.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FakeIoOptions, failed, runCli, temporaryDirectory } from '../support/io.ts';

/** Returns a user without settings. */
function user() {
  const directory = temporaryDirectory();
  const imgctl = (argv: readonly string[], env: FakeIoOptions['env'] = {}) =>
    runCli(argv, { env: { IMGCTL_CONFIG_DIR: directory, ...env } });
  return { directory, file: path.join(directory, 'config.json'), imgctl };
}

const DONE = { stdout: '', stderr: '', exitCode: 0 };

describe('config', () => {
  it('sets, prints and removes a setting', async () => {
    const { imgctl } = user();
    expect(await imgctl(['config', 'set', 'time', 'iso'])).toEqual(DONE);
    expect((await imgctl(['config', 'get', 'time'])).stdout).toBe('iso\n');
    expect(await imgctl(['config', 'unset', 'time'])).toEqual(DONE);
    expect(await imgctl(['config', 'get', 'time'])).toEqual({
      stdout: '',
      stderr: 'imgctl: time is not set\nhint: set it with: imgctl config set time VALUE\n',
      exitCode: 5,
    });
    expect(await imgctl(['config', 'unset', 'time'])).toEqual(DONE);
  });

  it('get and path print a record with -o or --json only', async () => {
    const { imgctl, file } = user();
    await imgctl(['config', 'set', 'time', 'iso']);
    const json = await imgctl(['config', 'get', 'time', '--json']);
    const record = { key: 'time', value: 'iso', origin: 'profile default' };
    expect(JSON.parse(json.stdout)).toEqual(record);
    const csv = await imgctl(['config', 'get', 'time', '-o', 'csv']);
    expect(csv.stdout).toBe('key,value,origin\r\ntime,iso,profile default\r\n');
    const path = await imgctl(['config', 'path', '--json']);
    expect(JSON.parse(path.stdout)).toEqual({ path: file });
    const env = { IMGCTL_OUTPUT: 'json' };
    expect((await imgctl(['config', 'path'], env)).stdout).toBe(`${file}\n`);
    expect((await imgctl(['config', 'get', 'time', '-q', '--json'])).stdout).toBe('iso\n');
  });

  it('set base-url warns at once about plain http', async () => {
    const { imgctl } = user();
    const set = (url: string) => imgctl(['config', 'set', 'base-url', url, '--profile', 'work']);
    expect(await set('http://images.example')).toEqual({
      stdout: '',
      stderr:
        'imgctl: warning: plain http would expose credentials sent to images.example\n' +
        'hint: use https://images.example, or allow plain http: imgctl config set allow-http true --profile work\n',
      exitCode: 0,
    });
    for (const url of ['https://images.example', 'http://127.0.0.1:8080']) {
      expect(await set(url)).toEqual(DONE);
    }
  });

  it('set token-store warns at once about plain redis', async () => {
    const { imgctl } = user();
    const set = (url: string) => imgctl(['config', 'set', 'token-store', url]);
    expect(await set('redis://me@redis.example')).toEqual({
      stdout: '',
      stderr:
        'imgctl: warning: plain redis:// would expose tokens sent to redis.example\n' +
        'hint: use rediss://me@redis.example, or allow it: imgctl config set allow-http true\n',
      exitCode: 0,
    });
    expect(await set('redis://127.0.0.1')).toEqual(DONE);
  });

  it('writes a file that ends with a line break', async () => {
    const { imgctl, file } = user();
    await imgctl(['config', 'set', 'time', 'iso']);
    expect(readFileSync(file, 'utf8')).toMatch(/\}\n$/);
  });

  it('names the profile in its hint', async () => {
    const { stderr } = await user().imgctl(['config', 'get', 'time', '--profile', 'work']);
    expect(stderr).toContain('hint: set it with: imgctl config set time VALUE --profile work\n');
  });

  it.each(['ca-file', 'upload-ca-file'])('stores the absolute path of %s', async (key) => {
    const { imgctl, directory } = user();
    const env = { IMGCTL_CONFIG_DIR: directory };
    await runCli(['config', 'set', key, 'certificates/ca.pem'], { env, cwd: '/srv' });
    const { stdout } = await imgctl(['config', 'get', key]);
    expect(stdout).toBe(`${path.resolve('/srv', 'certificates/ca.pem')}\n`);
  });

  it.each(['username', 'password-command', 'ca-file'])('rejects an empty %s', async (key) => {
    const stderr = `imgctl: ${key} must not be empty\nhint: provide a value, or remove the setting: imgctl config unset ${key}\n`;
    const result = await user().imgctl(['config', 'set', key, '']);
    expect(result).toEqual({ stdout: '', stderr, exitCode: 2 });
  });

  it('separates the settings of profiles', async () => {
    const { imgctl } = user();
    await imgctl(['config', 'set', 'retries', '7', '--profile', 'staging']);
    expect((await imgctl(['config', 'get', 'retries'])).stdout).toBe('4\n');
    const staging = { IMGCTL_PROFILE: 'staging' };
    expect((await imgctl(['config', 'get', 'retries'], staging)).stdout).toBe('7\n');
  });

  it('shows the origin of each value: option, environment, profile or default', async () => {
    const { imgctl } = user();
    await imgctl(['config', 'set', 'timeout', '5s']);
    await imgctl(['config', 'set', 'username', 'alice']);
    const env = { IMGCTL_USERNAME: 'bob', IMGCTL_OUTPUT: 'yaml', IMGCTL_BASE_URL: '' };
    const { stdout } = await imgctl(['config', 'list', '--json', '--retries', '9'], env);
    const rows: { key: string; value: string | null; origin: string | null }[] = JSON.parse(stdout);
    const shown = Object.fromEntries(rows.map(({ key, value, origin }) => [key, [value, origin]]));
    expect(shown).toMatchObject({
      'base-url': [null, null],
      username: ['bob', 'IMGCTL_USERNAME'],
      output: ['json', '--output'],
      timeout: ['5s', 'profile default'],
      retries: ['9', '--retries'],
      'auth-scheme': ['bearer', 'default'],
    });
  });

  it('prints the path of the file that it writes', async () => {
    const { file, imgctl } = user();
    expect((await imgctl(['config', 'path'])).stdout).toBe(`${file}\n`);
    await imgctl(['config', 'set', 'columns.images', 'id,NAME']);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      profiles: { default: { 'columns.images': 'id,NAME' } },
    });
  });

  it.each([
    ['base-url', 'https://alice:hunter2@example.com', 'imgctl login'],
    ['output', 'xml', 'table, json, ndjson, yaml, csv, tsv'],
    ['timeout', '30', '500ms'],
    ['columns.images', 'id,nam', 'name'],
    ['columns.my-images', '__proto__', 'id'],
    ['bas-url', 'x', 'did you mean base-url'],
    ['__proto__', 'x', 'valid: base-url'],
  ])('rejects set %s %s with a hint and writes nothing', async (key, value, hint) => {
    const { imgctl } = user();
    const result = await imgctl(['config', 'set', '--', key, value]);
    expect(result).toEqual(failed(2, /^imgctl: .+\nhint: .+\n$/));
    expect(result.stderr.split('\n')[1]).toContain(hint);
    expect(result.stderr).not.toContain('hunter2');
    const list = await imgctl(['config', 'list', '--json']);
    expect(list.stdout).not.toContain('profile default');
  });

  it('lists an invalid value with its error among all others', async () => {
    const { file, imgctl } = user();
    writeFileSync(file, '{"profiles": {"default": {"retries": "many", "username": "alice"}}}');
    const env = { IMGCTL_TIMEOUT: 'soon' };
    const { stdout, stderr, exitCode } = await imgctl(['config', 'list', '--json'], env);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { code: 'config', message: expect.stringMatching(/soon \(from IMGCTL_TIMEOUT\)$/) },
    });
    expect(exitCode).toBe(2);
    const rows: { key: string; error: string | null }[] = JSON.parse(stdout);
    const invalid = (key: string, value: string, origin: string) => ({
      key,
      value,
      origin,
      error: expect.stringContaining(value),
    });
    expect(rows.filter(({ error }) => error !== null)).toEqual([
      invalid('timeout', 'soon', 'IMGCTL_TIMEOUT'),
      invalid('retries', 'many', 'profile default'),
    ]);
    expect(rows).toContainEqual(expect.objectContaining({ key: 'username', value: 'alice' }));
    expect((await imgctl(['config', 'get', 'username'])).stdout).toBe('alice\n');
  });

  it('hides a password in an invalid value', async () => {
    const env = { IMGCTL_BASE_URL: 'https://u:hunter2@a.example', IMGCTL_USERNAME: 'u:hunter2' };
    const { stdout, stderr } = await user().imgctl(['config', 'list', '--json'], env);
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ value: '…@a.example' }),
        expect.objectContaining({ value: 'u:…' }),
      ]),
    );
    expect(stdout + stderr).not.toContain('hunter2');
  });

  it('adds a column for errors only if there are some', async () => {
    const { imgctl } = user();
    expect((await imgctl(['config', 'list'])).stdout).toMatch(/^KEY +VALUE +ORIGIN\n/i);
    const bad = await imgctl(['config', 'list'], { IMGCTL_OUTPUT: 'xml' });
    expect(bad.stdout).toMatch(/^KEY +VALUE +ORIGIN +ERROR\n/i);
    expect(bad.stdout).toMatch(/^output +xml +IMGCTL_OUTPUT +invalid output: xml/m);
    expect(bad.stderr).toMatch(
      /^imgctl: invalid output: xml \(from IMGCTL_OUTPUT\)\nhint: valid: /,
    );
    expect(bad.exitCode).toBe(2);
  });

  it('fails if it cannot write its file', async () => {
    const { directory, imgctl } = user();
    mkdirSync(path.join(directory, 'config.json'));
    const set = ['config', 'set', 'time', 'iso'];
    expect(await imgctl(set)).toEqual(failed(2, /^imgctl: .*config\.json.*\nhint: .+\n$/));
    const homeless = /^imgctl: no home directory.*\nhint: .*IMGCTL_CONFIG_DIR/;
    expect(await runCli(set)).toEqual(failed(2, homeless));
  });
});
