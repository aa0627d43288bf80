// config: settings of profiles, their origins and invalid values.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../../support/certificate.ts';
import { failed } from '../../support/io.ts';
import { expectSteps } from '../../support/steps.ts';
import { writeOva } from '../../support/uploads.ts';
import { emulatorUser, localUser, noted } from '../../support/users.ts';

describe('config', () => {
  it('sets, prints and removes a setting', async () => {
    const { imgctl, file } = localUser();
    const unset = 'imgctl: time is not set\nhint: set it with: imgctl config set time VALUE';
    await expectSteps(
      imgctl,
      ['config set time iso'],
      ['config get time', 'iso\n'],
      ['config get time --json', { key: 'time', value: 'iso', origin: 'profile default' }],
      ['config get time -o csv', 'key,value,origin\r\ntime,iso,profile default\r\n'],
      ['config get time -q --json', 'iso\n'],
      ['config path', `${file}\n`],
      ['config path --json', { path: file }],
      ['IMGCTL_OUTPUT=json config path', `${file}\n`],
      ['config unset time'],
      ['config get time', '', `${unset}\n`, 5],
      ['config get time --profile work', '', `${unset} --profile work\n`, 5],
      ['config unset time'],
      ['config set columns.images id,NAME'],
      ['config set retries 7 --profile staging'],
      ['config get retries', '4\n'],
      ['IMGCTL_PROFILE=staging config get retries', '7\n'],
      ['IMGCTL_PROFILE= config get retries', '4\n'],
    );
    const text = readFileSync(file, 'utf8');
    const profiles = { default: { 'columns.images': 'id,NAME' }, staging: { retries: '7' } };
    expect(JSON.parse(text)).toEqual({ profiles });
    expect(text).toMatch(/\}\n$/);
  });

  it('set adds https:// to a base URL, and warns at once about each plain protocol', async () => {
    const http =
      'imgctl: warning: plain http would expose credentials sent to images.example\n' +
      'hint: use https://images.example, or allow plain http: imgctl config set allow-http true --profile work\n';
    const redis =
      'imgctl: warning: plain redis:// would expose tokens sent to redis.example\n' +
      'hint: use rediss://me@redis.example, or allow it: imgctl config set allow-http true\n';
    const upload =
      /^imgctl: warning: plain .*http would expose .*images\.example\nhint: .*allow-http true\n$/;
    await expectSteps(
      localUser().imgctl,
      ['config set base-url http://images.example --profile work', '', http],
      ['config set base-url images.example --profile work'],
      ['config get base-url --profile work', 'https://images.example\n'],
      ['IMGCTL_BASE_URL=localhost:1 config list --get value', 'http://localhost:1\n'],
      ['config set base-url http://127.0.0.1:8080 --profile work'],
      ['config set token-store redis://me@redis.example', '', redis],
      ["config set upload-url ' dav+http://images.example/x'", '', upload],
      ['config set token-store redis://127.0.0.1'],
      ['config set token-store redis://[::1]'],
      ['config set token-store redis://localhost.example.com', '', /^imgctl: warning: plain redis/],
      ['config set allow-http TRUE'],
      ['config set token-store redis://me@redis.example'],
      ['config get allow-http', 'true\n'],
    );
  });

  it('set names the variable that overrides it, and what keeps the old base URL after a login', async () => {
    const { imgctl, emulator } = await emulatorUser();
    const [old, now] = [emulator.baseUrl, 'https://new.example'];
    const overridden =
      'imgctl: warning: IMGCTL_BASE_URL overrides this setting\nhint: run: unset IMGCTL_BASE_URL\n';
    const moved = `${overridden}imgctl: lock files, snapshots, cursors and history still belong to ${old}\nhint: if it is the same service, put ${now} into base_url of lock files and snapshots\n`;
    await expectSteps(
      imgctl,
      [`config set base-url ${old}`],
      ['IMGCTL_PASSWORD=demo login -q'],
      [`config set base-url ${old}`],
      ['config set base-url new.example', '', moved],
      [`config set base-url ${now}`, '', overridden],
    );
  });

  it.each([
    ['ca-file', 'x'],
    ['upload-ca-file', 'x'],
    ['credential-helper', 'x'],
  ])('stores the absolute path of %s', async (key, name) => {
    const { imgctl, directory } = localUser();
    const folder = path.join(directory, 'below');
    mkdirSync(folder);
    writeFileSync(path.join(folder, name), selfSigned('images.example').cert);
    await imgctl(`config set ${key} below/${name}`, { cwd: directory });
    await expectSteps(imgctl, [`config get ${key}`, `${path.join(folder, name)}\n`]);
  });

  it.each([
    ['base-url', 'https://alice:hunter2@example.com', 'imgctl login'],
    ['output', 'xml', 'table, json, ndjson, yaml, csv, tsv'],
    ['timeout', '30', '500ms'],
    ['output', '', 'table, json'],
    ['retries', '101', 'imgctl config set retries 100'],
    ['retries', '-1', 'imgctl config set retries 1'],
    ['concurrency', '0', 'imgctl config set concurrency 1'],
    ['concurrency', '33', 'imgctl config set concurrency 32'],
    ['auth-scheme', 'digest', 'bearer, basic'],
    ['allow-http', 'yes', 'true, false'],
    ['time', 'utc', 'iso, local, age'],
    ['columns.images', 'id,nam', 'name'],
    ['columns.my-images', '__proto__', 'id'],
    ['bas-url', 'x', 'did you mean base-url'],
    ['Password', 'hunter2', 'set a variable such as IMGCTL_PASSWORD'],
    ['http_proxy', 'x', 'IMGCTL_TOKEN or HTTPS_PROXY'],
    ['username=hunter2', 'x', 'did you mean username'],
    ['__proto__', 'x', 'see: imgctl config list --all'],
    ['username', '', 'remove the setting: imgctl config unset username'],
    ['password-command', '', 'remove the setting: imgctl config unset password-command'],
    ['ca-file', '', 'remove the setting: imgctl config unset ca-file'],
    ['credential-helper', 'a b', 'use a name such as pass, or a path'],
    ['upload-url', 'ftp://host/x', 's3+https'],
    ['upload-url', ' https://host/x ', 'did you mean dav+https://host/x? Otherwise, use a URL'],
    ['upload-url', 'dav+https://u:hunter2@host/', 'remove the user name'],
    ['upload-url', 'https://host:99999/?hunter2=1', 'hint: use a URL such as dav+https://'],
    ['upload-url', 'dav+https://h/?hunter2=1', 'remove the user name, password'],
    ['upload-url', '//u:hunter2@host/x', 'hint: use a URL such as dav+https://'],
    ['upload-url', 'https://u:hunter2@host:port', 'hint: use a URL such as dav+https://'],
    ['upload-url', 'file:///a%2fb', 'use a URL such as '],
    ['upload-url', 'file:', 'use a URL such as '],
    ['upload-url', 'file:///', 'use a URL such as '],
    ['upload-url', '/..', 'use a URL such as '],
    ['upload-url', 'file:.', 'use a URL such as '],
    ['upload-url', 'file:uploads', 'use a URL such as '],
    ['upload-url', 's3+https://host', 's3+https://host/bucket/prefix'],
    ['upload-url', 's3+https://host//bucket', 's3+https://host/bucket/prefix'],
    ['upload-username', 'a:hunter2', 'without a colon'],
    ['upload-region', 'a/b', 'us-east-1'],
    ['token-store', 'redis://bob:hunter2@localhost/0', 'token-store-password-command'],
  ])('rejects set %s %s with a hint and writes nothing', async (key, value, hint) => {
    const { imgctl } = localUser();
    const result = await imgctl(['config', 'set', '--', key, value]);
    expect(result).toEqual(failed(2, /^imgctl: .+\nhint: .+\n$/));
    expect(result.stderr.split('\n')[1]).toContain(hint);
    expect(result.stderr).not.toContain('hunter2');
    expect((await imgctl('config list --json')).stdout).not.toContain('profile default');
  });

  it('list shows the error of an invalid value among all others, but no password', async () => {
    const { imgctl } = localUser({ profiles: { default: { retries: 'many', username: 'alice' } } });
    const variables = 'IMGCTL_TIMEOUT=soon IMGCTL_BASE_URL=https://u:hunter2@a.example';
    const { stdout, stderr, exitCode } = await imgctl(`${variables} config list --json`);
    expect([exitCode, (stdout + stderr).includes('hunter2')]).toEqual([2, false]);
    const rows: { key: string; error: string | null }[] = JSON.parse(stdout);
    const group = 'service';
    const error = expect.stringMatching(/^(invalid|base URL|retries) .*\(from /);
    expect(rows.filter((row) => row.error !== null)).toEqual([
      { key: 'base-url', value: null, origin: 'IMGCTL_BASE_URL', error, group },
      { key: 'timeout', value: null, origin: 'IMGCTL_TIMEOUT', error, group },
      { key: 'retries', value: null, origin: 'profile default', error, group },
    ]);
    expect(rows).toContainEqual(expect.objectContaining({ key: 'username', value: 'alice' }));
    const refused = {
      code: 'config',
      message: expect.stringMatching(/soon \(from IMGCTL_TIMEOUT/),
    };
    await expectSteps(
      imgctl,
      ['config get username', 'alice\n'],
      ['IMGCTL_TIMEOUT=soon config get timeout --json', '', { error: refused }, 2],
    );
  });

  it('list shows what is set, and the rest with --all', async () => {
    const { imgctl } = localUser({ profiles: { default: { timeout: '5s' } } });
    const none = 'imgctl: nothing is set\nhint: list the defaults with: imgctl config list --all\n';
    const unknown = "imgctl: warning: unknown profile 'other'\nhint: see: imgctl profile list\n";
    const user = 'IMGCTL_USERNAME=bob';
    await expectSteps(
      imgctl,
      [`${user} config list`, /^key +value +origin\nusername +bob +\S+\ntimeout +5s +.*\n$/i],
      [`${user} config list --all -q`, /^base-url\nusername\n(.+\n){10}/],
      ['config list --profile other', '', unknown],
    );
    await expectSteps(noted(localUser().imgctl), ['config list', '', none]);
  });

  it('list has a column for groups with --all, and one for errors only if there are some', async () => {
    const table =
      /^key +value +origin +error\n[\s\S]*^output +- +IMGCTL_OUTPUT +unknown format 'xml' in output/m;
    const error = /^imgctl: unknown format 'xml' in output \(from IMGCTL_OUTPUT\)\nhint: valid: /;
    await expectSteps(
      localUser().imgctl,
      [
        'config list --all',
        /^key +value +origin +group\nbase-url .* service\n[\s\S]*^upload-url .* upload\n/m,
      ],
      ['IMGCTL_OUTPUT=xml config list', table, error, 2],
    );
  });

  it('ignores an invalid format of times in a table without times', async () => {
    const { imgctl } = localUser({ profiles: { default: { time: 'utc' } } });
    const error = /^imgctl: unknown time style 'utc' in time \(from profile default\)/;
    await expectSteps(imgctl, ['profile list', /^name /], ['whoami', '', error, 2]);
  });

  it.each([
    ['a setting', "config set password-file '~/pw'", 'config get password-file', 'HOME/pw'],
    [
      'the upload storage',
      "config set upload-url '~/up'",
      'config get upload-url',
      'file://HOME/up',
    ],
    ['a helper', "config set credential-helper '~/x'", 'config get credential-helper', 'HOME/x'],
    [
      'a variable',
      'config set time iso',
      'IMGCTL_CONFIG_DIR=~/c config path',
      'HOME/c/config.json',
    ],
    ['an option', 'config path', 'images list --from=~/none.json', 'HOME/none.json'],
  ])('takes ~/ in %s for the home', async (_what, first, second, expected) => {
    const { imgctl, directory } = localUser();
    const home = { env: { HOME: directory } };
    expect(await imgctl(first, home)).toMatchObject({ exitCode: 0, stderr: '' });
    const { stdout, stderr } = await imgctl(second, home);
    expect(stdout + stderr).toContain(expected.replace('HOME', directory));
  });

  it.each([
    ["config set ca-file '~bob/ca.pem'", 'cannot expand ~ in ca-file: ~bob/ca.pem'],
    ['config set ca-file none.pem', 'cannot read the ca-file none.pem: no such file or directory'],
    ['config set ca-file large.pem', 'cannot read the ca-file large.pem: it is too large'],
    ['config set upload-ca-file .', 'cannot read the upload-ca-file .: it is not a regular file'],
    [
      'config set ca-file config.json',
      'config.json: no valid PEM certificate\nhint: use another file: imgctl config set',
    ],
    ['IMGCTL_CONFIG_DIR=~ config path', 'cannot expand ~ in IMGCTL_CONFIG_DIR: ~'],
    ["'IMGCTL_CONFIG_DIR= ' config path", 'IMGCTL_CONFIG_DIR must not be empty'],
    ["'IMGCTL_PROFILE= ' config list", 'empty profile name (from IMGCTL_PROFILE)'],
    ['push web.ova --to=~x', 'cannot expand ~ in --to: ~x'],
    [
      'IMGCTL_PASSWORD_FILE=~x login -u demo',
      'cannot expand ~ in password-file: ~x (from IMGCTL_PASSWORD_FILE)',
    ],
  ])('imgctl %s exits 2, as its path cannot be used', async (line, message) => {
    const { imgctl, directory } = localUser({}, { IMGCTL_BASE_URL: 'http://127.0.0.1:9' });
    writeFileSync(path.join(directory, 'large.pem'), 'x'.repeat(4 * 2 ** 20 + 1));
    const { exitCode, stdout, stderr } = await imgctl(line, { cwd: directory });
    expect(stdout + stderr).toContain(message);
    expect(exitCode).toBe(2);
  });

  it('ignores a setting of another version, and unset removes it, or the mark of a stored password', async () => {
    const given = { 'table-style': 'box', 'stored-password': 'keychain' };
    const { imgctl, file } = localUser({ profiles: { work: given } });
    const unknown = /^imgctl: unknown setting 'table-style'\nhint: /;
    await expectSteps(
      imgctl,
      ['config list --all --profile work', /^time +- /m],
      ['config unset table-style', '', unknown, 2],
      ['config unset time'],
      [
        'config unset time --profile wrok',
        '',
        "imgctl: unknown profile 'wrok'\nhint: did you mean work?\n",
        5,
      ],
      ['config unset table-style --profile work'],
      ['config unset stored-password --profile work'],
    );
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ profiles: { work: {} } });
  });

  it.each([
    ['version -o yaml', true],
    ['inspect a.ova -q', true],
    ['validate a.ova', true],
    ['images list --from a.json', false],
    ['profile list', false],
  ])('that is damaged is no obstacle for imgctl %s: %s', async (line, isRun) => {
    const { imgctl, directory, file } = localUser({});
    writeOva(directory, 'a');
    writeFileSync(file, '{');
    const { stderr, exitCode } = await imgctl(line);
    const damaged = `imgctl: ${isRun ? 'warning: ' : ''}cannot read the settings in ${file}: `;
    expect({ starts: stderr.startsWith(damaged), exitCode }).toEqual({
      ...{ starts: true, exitCode: isRun ? 0 : 2 },
    });
  });

  it('unset says for which service the setting was, if it was set', async () => {
    const stored = { 'base-url': 'https://a.example', 'upload-url': 'file:///srv' };
    const { imgctl } = localUser({ profiles: { default: stored } });
    const unset = 'IMGCTL_BASE_URL=https://b.example config unset';
    const text = 'imgctl: removed the setting upload-url, which was for https://a.example\n';
    await expectSteps(
      imgctl,
      [`${unset} username`],
      [`${unset} upload-url`, '', text],
      [`${unset} upload-url`],
    );
  });

  it('leaves the file as it is if nothing changes', async () => {
    const { imgctl, file } = localUser({ profile: 'work', profiles: { work: { time: 'iso' } } });
    const before = readFileSync(file, 'utf8');
    await expectSteps(
      imgctl,
      ['config set time ISO'],
      ['config unset output'],
      ['profile use work', '', /now using/],
    );
    expect(readFileSync(file, 'utf8')).toBe(before);
    const fresh = localUser();
    await expectSteps(fresh.imgctl, ['config unset time']);
    expect(existsSync(fresh.file)).toBe(false);
  });

  it('fails if it cannot write its file', async () => {
    const { file, imgctl } = localUser();
    mkdirSync(file);
    const home = 'set HOME, such as HOME=/home/alice, or IMGCTL_CONFIG_DIR';
    const unread = `imgctl: no service address is set, because HOME is not set\nhint: ${home}; without settings, set IMGCTL_BASE_URL\n`;
    const homeless = `imgctl: no home directory for the settings\nhint: ${home}\n`;
    const folder = `imgctl: cannot read the settings in ${file}: it is not a regular file\nhint: fix the file or move it elsewhere; imgctl does not overwrite it\n`;
    await expectSteps(
      imgctl,
      ['config set time iso', '', folder, 2],
      ['IMGCTL_CONFIG_DIR= config set time iso', '', homeless, 2],
      ['IMGCTL_CONFIG_DIR= images list', '', unread, 2],
      ['IMGCTL_CONFIG_DIR= sync-status --list', '', unread, 2],
    );
  });
});
