// Errors and notices as text and as JSON.

import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { Context } from '../../src/context.ts';
import { asImgctlError, ImgctlError } from '../../src/errors.ts';
import { BrokenPipeError } from '../../src/io.ts';
import { run } from '../../src/main.ts';
import { envelope } from '../ovf/harness.ts';
import { catalogueOf, named } from '../support/catalogue-page.ts';
import { fakeIo, runCli, temporaryDirectory } from '../support/io.ts';
import { PLAIN } from '../support/message-format.ts';
import { formatError, formatNotice } from '../support/messages.ts';
import { DROP } from '../support/scripted-server.ts';
import { writeOva } from '../support/uploads.ts';
import { localUser, scriptedUser } from '../support/users.ts';
import { record, SUBMITTED } from './packages/sync-harness.ts';

const TEXT = PLAIN;
const JSON_LINE = { ...PLAIN, json: true };
const found = new ImgctlError('server-error', 'oops', { facts: 'wait', status: 503 });
const FIELDS = '"code":"server-error","message":"oops","hint":"wait","status":503,"exitCode":1';
const bare = new ImgctlError('usage', 'why');
const NARROW = { ...TEXT, width: 15 };
const details = ['four five sixty seven'];
const long = new ImgctlError('usage', 'one two three', { details, facts: 'copy this command' });

it.each([
  [formatError(found, TEXT), 'imgctl: oops\nhint: wait\n'],
  [formatError(found, JSON_LINE), `{"error":{${FIELDS}}}\n`],
  [formatError(bare, TEXT), 'imgctl: why\n'],
  [formatError(bare, JSON_LINE), '{"error":{"code":"usage","message":"why","exitCode":2}}\n'],
  [formatNotice('warning', { message: 'a', hint: 'b' }, TEXT), 'imgctl: warning: a\nhint: b\n'],
  [formatNotice('note', { message: 'a' }, JSON_LINE), '{"note":{"message":"a"}}\n'],
  [
    formatError(long, NARROW),
    'imgctl: one two\n    three\n  four five\n    sixty seven\nhint: copy this command\n',
  ],
  [formatError(long, { ...JSON_LINE, width: 15 }), formatError(long, JSON_LINE)],
  [formatNotice('note', { message: 'copy this command' }, NARROW), 'imgctl: copy this command\n'],
  [formatNotice('debug', { message: 'GET /v2: 200' }, NARROW), 'imgctl: debug: GET /v2: 200\n'],
])('a message is printed as %j', (text, expected) => {
  expect(text).toBe(expected);
});

it.each([[TEXT], [JSON_LINE]])('an error escapes control characters: %j', (format) => {
  const hint = 'a\u001b[31m\r\nimgctl: b\u009b\u202e';
  const text = formatError(
    new ImgctlError('failed', hint, { facts: hint, details: [hint] }),
    format,
  );
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  expect(text.match(/\n/g)).toHaveLength(format.json ? 1 : 3);
});

it('an unexpected error shows its stack trace with debug only', () => {
  expect(asImgctlError(undefined).message).toBe('unexpected error: undefined');
  const error = asImgctlError(new TypeError('x is not a function'));
  const line = 'imgctl: unexpected error: x is not a function\nhint: .*--debug.*\n';
  expect(formatError(error, TEXT)).toMatch(new RegExp(`^${line}$`));
  const trace = 'imgctl: debug: TypeError: x is not a function\n(imgctl: debug: {5}at .*\n)+';
  const traced = formatError(error, TEXT, true);
  expect(traced).toMatch(new RegExp(`^${line}${trace}$`));
  const [first, second, ...lines] = formatError(error, JSON_LINE, true).split('\n');
  expect(JSON.parse(`${first}`).error.code).toBe('failed');
  expect(JSON.parse(`${second}`)).toEqual({ debug: { message: 'TypeError: x is not a function' } });
  for (const at of lines.filter(Boolean)) expect(JSON.parse(at).debug.message).toMatch(/^ +at /);
});

it.each([
  [{ 'retry-after': '60' }, /^imgctl: 127\.0\.0\.1:\d+ asks to wait 1 min\n$/],
  [{ 'retry-after': '5' }, /^imgctl: 127\.0\.0\.1:\d+ asks to wait 5 s\n$/],
  [{ 'retry-after': '4' }, /^$/],
])('a wait that the service asks for with %j is said if it is long', async (headers, text) => {
  const limited = { status: 429, headers };
  const { imgctl } = await scriptedUser({ 'GET /v2/image/1': [limited, { json: named(1, 'a') }] });
  const { stderr } = await imgctl('images get 1 --get id');
  expect(stderr).toMatch(text);
});

it('a service that refuses every request without a time to wait is waited for, and that is said once', async () => {
  const limited = { status: 429 };
  const { imgctl } = await scriptedUser({ 'GET /v2/image/1': limited });
  const { stderr, exitCode } = await imgctl('images get 1 --get id');
  const line = /^imgctl: 127\.0\.0\.1:\d+ limits requests; retrying for up to a minute\n/;
  expect(stderr).toMatch(line);
  expect(stderr.match(/limits requests/g)).toHaveLength(1);
  expect(exitCode).toBe(6);
});

it.each([
  ...[['1', true] as const, ['yes', true] as const],
  ...['', ' ', '0', 'False', 'no', 'OFF'].map((value) => [value, false] as const),
])('IMGCTL_DEBUG=%s shows requests: %s', async (value, isShown) => {
  const { imgctl } = await scriptedUser({ 'GET /v2/image/1': { json: named(1, 'a') } });
  const { stderr } = await imgctl(`'IMGCTL_DEBUG=${value}' images get 1 --get id`);
  expect(stderr).toMatch(isShown ? /^imgctl: debug: GET \S+: 200 in / : /^$/);
});

it('a wait is said once for requests that run at the same time', async () => {
  const io = fakeIo({ time: 0 });
  const context = new Context(io, { given: new Map() });
  const url = new URL('http://a.example/v2');
  const long = { wait: 60_000, asked: 60_000, outage: undefined };
  const event = { kind: 'retry', method: 'GET', url, count: 1, ...long } as const;
  for (const later of [0, 0, 60_000]) {
    io.advance(later);
    context.onEvent(event);
  }
  await context.close();
  expect(io.stderr.text).toBe('imgctl: a.example asks to wait 1 min\n'.repeat(2));
});

it('an outage of some seconds is waited for, and said', async () => {
  const down = { status: 502 };
  const script = { 'GET /v2/image/1': [down, down, down, { json: named(1, 'a') }] };
  const { imgctl } = await scriptedUser(script);
  const { stdout, stderr } = await imgctl('images get 1 --get id');
  const line = (seconds: number) => `imgctl: HOST returned 502; retrying in ${seconds} s\n`;
  expect(stdout).toBe('1\n');
  expect(stderr.replace(/127\.0\.0\.1:\d+/g, 'HOST')).toBe(line(1) + line(4));
});

it.each([
  ['IMGCTL_RETRIES=x', 'config list', 'for example: IMGCTL_RETRIES=1'],
  [
    'IMGCTL_CA_FILE=/gone',
    'images list',
    'use another file: IMGCTL_CA_FILE=/path/to/ca.pem, or none: unset IMGCTL_CA_FILE',
  ],
  [
    'IMGCTL_TOKEN_STORE=redis://h',
    'images list',
    'use rediss://h, or allow it: imgctl config set allow-http true',
  ],
  [
    'IMGCTL_ALLOW_HTTP=false',
    'images list --base-url http://h',
    'or allow plain http: IMGCTL_ALLOW_HTTP=true',
  ],
  ['', 'config set retries=5 --profile x', 'use: imgctl config set retries VALUE --profile x'],
])(
  '%s %s has a hint that changes the setting where its value is from',
  async (variable, line, text) => {
    const { imgctl } = localUser(
      { profiles: { x: { retries: '3' } } },
      { IMGCTL_BASE_URL: 'http://127.0.0.1:1' },
    );
    expect((await imgctl(`${variable} ${line}`.trim())).stderr).toContain(text);
  },
);

const MOVED = { status: 302, headers: { location: '/v3/v2/v2/image' } };
const LOGIN = { status: 302, headers: { location: '/login' } };
const STORED = 'IMGCTL_BASE_URL= images list --retries 0 --profile x';
const SET = 'imgctl config set base-url';
it.each([
  ['images list --base-url AT/a&b/v2', { status: 404 }, "omit /v2: --base-url 'AT/a&b'"],
  ['IMGCTL_BASE_URL=AT/v2 images list', { status: 404 }, 'omit /v2: IMGCTL_BASE_URL=AT'],
  [STORED, { status: 404 }, `omit /v2: ${SET} AT --profile x`],
  ['images list --base-url AT', { status: 404 }, 'check the base URL: --base-url'],
  ['images list', { body: '<html>' }, 'check the base URL: IMGCTL_BASE_URL'],
  ['images list', LOGIN, 'check the base URL: IMGCTL_BASE_URL; a portal .*'],
  ['images list', MOVED, 'if the service has moved: IMGCTL_BASE_URL=URL'],
  [STORED, MOVED, `if the service has moved: ${SET} URL --profile x`],
  [STORED, DROP, 'use https in the base URL: imgctl config get base-url --profile x; else .*'],
])('%s, answered with %j, has a hint for that address', async (line, response, hint) => {
  const { imgctl, server } = await scriptedUser(() => response);
  await imgctl(`config set base-url ${server.baseUrl}/v2 --profile x`);
  const { stderr } = await imgctl(line.replace('AT', server.baseUrl));
  expect(stderr.replaceAll(server.baseUrl, 'AT')).toMatch(new RegExp(`\nhint: .*${hint}\n$`));
});

it('an invalid output format does not hide an error', async () => {
  const { stderr } = await runCli(['whoami'], {
    env: { IMGCTL_OUTPUT: 'nonsense', IMGCTL_PROFILE: '../x' },
  });
  expect(stderr).toMatch(
    /^imgctl: invalid profile name: \.\.\/x \(from IMGCTL_PROFILE\)\nhint: .+\n$/,
  );
});

/** A folder, and a user of a service with these images whose syncs end with this status. */
async function userOf(status: string, images: () => readonly Image[] = () => [UBUNTU]) {
  const { imgctl, env } = await scriptedUser((request, index) => {
    if (request.method === 'PATCH') return SUBMITTED;
    const { pathname } = request.url;
    if (pathname.includes('sync')) return record({ status });
    if (pathname.includes('user')) return { json: { data: images(), meta: { count: 1 } } };
    return catalogueOf(images())(request, index);
  });
  const cwd = temporaryDirectory();
  const lock = () => imgctl('images lock add web ubuntu', { cwd });
  /** Runs a line whose output cannot be written. */
  const runInto = async (error: Error, line: string) => {
    const io = fakeIo({ env, cwd, time: 0 });
    const write = () => Promise.reject(error);
    const stdout = { isTTY: false, columns: undefined, write };
    return { exitCode: await run(line.split(' '), { ...io, stdout }), stderr: io.stderr.text };
  };
  return { cwd, lock, runInto };
}

const UBUNTU = named(1, 'ubuntu-22.04.ova');

it.each([
  ['sync', 'sync 41 was submitted; follow it with: imgctl sync-status 41'],
  ['sync --wait -o csv', 'sync 41 was submitted; follow it with: imgctl sync-status 41'],
  [
    'push ubuntu.ova --to file://CWD',
    'sync 41 was submitted; follow it with: imgctl sync-status 41',
  ],
  ['images lock add web ubuntu', 'web is locked in images.lock.json'],
  ['images lock update', 'images.lock.json holds the newest images'],
  ['api -X PATCH /v2/user/image/vm', 'PATCH /v2/user/image/vm was sent; its status is 202'],
  ['api /v2/image', 'check it'],
  ['api -i -X HEAD /v2/image', 'check it'],
])('%s says what it did if its output cannot be written', async (line, hint) => {
  const { cwd, lock, runInto } = await userOf('PROCESSED', () => [named(1, 'ubuntu.ova')]);
  writeOva(cwd, 'ubuntu');
  if (line.includes('update')) await lock();
  const message = 'cannot write the output: ENOSPC';
  const full = new ImgctlError('failed', message, { facts: 'check it' });
  const { exitCode, stderr } = await runInto(full, line.replace('CWD', cwd));
  expect(stderr).toContain(`imgctl: ${message}\nhint: ${hint}\n`);
  expect(exitCode).toBe(1);
});

it.each([
  ['images list', 0, ''],
  ['sync --wait', 1, 'sync request 41 failed (status: ERROR)'],
  ['sync-status 41', 1, 'sync request 41 failed (status: ERROR)'],
  ['images lock check', 1, '1 of 1 locked image changed'],
  ['validate bad.ova warned.ovf -o ndjson', 1, '1 valid, 1 failed: bad.ova'],
  ['validate warned.ovf bad.ova -o ndjson', 0, ''],
])('%s exits %i if the reader of its output is gone', async (line, exitCode, message) => {
  let images = [UBUNTU];
  const { cwd, lock, runInto } = await userOf('ERROR', () => images);
  fs.writeFileSync(path.join(cwd, 'bad.ova'), '');
  fs.writeFileSync(path.join(cwd, 'warned.ovf'), envelope(''));
  await lock();
  images = [{ ...UBUNTU, updated_on: '2020-01-01 Wed 00:00:00 UTC' }];
  const stderr = expect.stringContaining(message);
  expect(await runInto(new BrokenPipeError(), line)).toEqual({ exitCode, stderr });
});
