// S3 storages that answer without end, leave features out, or show something else than they were sent.

import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { rateLimit } from '../../src/upload/rate.ts';
import type { S3Request } from '../../src/upload/s3-bucket.ts';
import { sendCompletion } from '../../src/upload/s3-complete.ts';
import { sendParts } from '../../src/upload/s3-upload.ts';
import { flipByte } from '../support/files.ts';
import { failed, fakeIo } from '../support/io.ts';
import {
  DROP,
  type Handler,
  requestsTo,
  type ScriptedRequest,
  type ScriptedResponse,
} from '../support/scripted-server.ts';
import { pushToScript, SECRETS, storageUser, writeOva } from '../support/uploads.ts';

/** What an S3 storage does with the upload of one part, and what a test changes of it. */
function s3(changes: {
  /** The size of the object, instead of that of the upload. */
  readonly size?: number;
  readonly list?: (request: Parameters<Handler>[0], index: number) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly etag?: string;
  /** What the object holds. */
  readonly content?: () => Buffer<ArrayBuffer>;
  /** What it answers instead. */
  readonly refuse?: (request: ScriptedRequest) => ScriptedResponse | false;
}): Handler {
  const { headers = {}, list } = changes;
  let md5 = Buffer.alloc(0);
  /** The ETags of objects, by path. */
  const stored = new Map<string, string>();
  let size = 0;
  return (request, index) => {
    const refusal = changes.refuse?.(request);
    if (refusal) return refusal;
    const { method, url, headers: sent } = request;
    const { pathname } = url;
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(sent.range)) ?? [];
    const content = changes.content?.() ?? Buffer.alloc(0);
    if (first) return { status: 206, body: content.subarray(Number(first), Number(last) + 1) };
    if (method === 'GET')
      return { body: `<ListResult>${list?.(request, index) ?? ''}</ListResult>` };
    if (method === 'DELETE' && url.search === '') stored.delete(pathname);
    if (method === 'PUT') {
      md5 = Buffer.from(String(sent['content-md5']), 'base64');
      size = changes.size ?? Number(sent['content-length']);
      return { headers: { ...headers, etag: changes.etag ?? md5.toString('hex') } };
    }
    const etag = stored.get(pathname);
    if (method === 'HEAD' && etag === undefined) return { status: 404 };
    if (method === 'HEAD')
      return { headers: { ...headers, etag: `"${etag}"`, 'content-length': size } };
    const isStart = url.searchParams.has('uploads');
    if (isStart) return { body: '<Done><UploadId>1</UploadId></Done>' };
    const joined = changes.etag ?? `${createHash('md5').update(md5).digest('hex')}-1`;
    if (method === 'POST') stored.set(pathname, joined);
    return { body: `<Done><ETag>${joined}</ETag></Done>` };
  };
}

const s3Error = (status: number, code: string, message = '', more = ''): ScriptedResponse => ({
  status,
  body: `<Error><Code>${code}</Code><Message>${message}</Message>${more}</Error>`,
});

const isCompletion = ({ method, url }: ScriptedRequest) =>
  method === 'POST' && !url.searchParams.has('uploads');

/** Starts a push to `s3(changes)`, whose responses `change` may replace. */
function pushTo(
  changes: Parameters<typeof s3>[0] = {},
  change: (
    request: ScriptedRequest,
    response: ScriptedResponse,
  ) => ScriptedResponse | Promise<ScriptedResponse> = (_request, response) => response,
) {
  const script = s3(changes);
  return pushToScript('s3', async (request, index) =>
    change(request, await script(request, index)),
  );
}

const OPAQUE = {
  headers: { 'x-amz-server-side-encryption': 'aws:kms' },
  etag: '0123456789abcdef0123456789abcdef-1',
};

describe('push to an S3 storage', () => {
  it('whose list of objects never ends fails', async () => {
    const next = '<NextContinuationToken>same</NextContinuationToken>';
    const list = () => `<IsTruncated>true</IsTruncated>${next}`;
    const { start, requests } = await pushTo({ list });
    const result = await start('--dry-run').ended;
    expect(result).toEqual(failed(1, /^imgctl: bucket .* sent an endless list\nhint: /));
    const lists = requests.filter(({ url }) => url.searchParams.has('delimiter'));
    expect(lists).toHaveLength(2);
  });

  it('that answers with a page of XHTML is not an S3 storage', async () => {
    const page = { body: '<html><p>Log in</p></html>' };
    const { start } = await pushTo({ refuse: ({ method }) => method === 'GET' && page });
    const text = /^imgctl: 127\.0\.0\.1:\d+ is not an S3 storage\nhint: check the upload URL/;
    expect(await start('--no-sync').ended).toEqual(failed(1, text));
  });

  const OTHER = { etag: '"0123456789abcdef0123456789abcdef-1"' };
  const DAMAGED = 'the upload of web.ova failed: its size is 17';
  const DIFFERENT = 'already has a different web.ova';

  // The tables of `publishUpload`.
  it.each<{
    readonly what: string;
    readonly changes?: Parameters<typeof s3>[0];
    readonly completion?: ScriptedResponse;
    /** What the object then has besides a size of 17; null if there is none. */
    readonly shown?: Record<string, string> | null;
    readonly replace?: boolean;
    readonly text: string | RegExp;
    readonly isRemoved?: boolean;
  }>([
    { what: 'joins an object of another size', text: `${DAMAGED}\n`, isRemoved: true },
    {
      what: 'joins one that replaces',
      replace: true,
      text: `visible: web.ova (perhaps)\nimgctl: ${DAMAGED}; it was removed, and what it replaced is gone\n`,
      isRemoved: true,
    },
    { what: 'joins one with keys of its own', changes: OPAQUE, text: DAMAGED, isRemoved: true },
    {
      what: 'names no ETags',
      completion: { body: '<Done/>' },
      shown: { etag: '' },
      text: `${DAMAGED}, and it was not removed\n`,
    },
    {
      what: 'names no ETag, and has another one',
      completion: { body: '<Done/>' },
      shown: OTHER,
      text: `${DAMAGED}, and it was not removed\n`,
    },
    { what: 'joins, and has another one', shown: OTHER, text: DIFFERENT },
    {
      what: 'joins with keys of its own, and has another one',
      changes: OPAQUE,
      shown: { etag: '"other"' },
      text: DIFFERENT,
    },
    {
      what: 'joins to replace, and has another one',
      shown: OTHER,
      replace: true,
      text: `${DAMAGED}, and it was not removed\n`,
    },
    {
      what: 'fails, and has another one',
      completion: { status: 500 },
      shown: OTHER,
      text: DIFFERENT,
    },
    {
      what: 'fails to replace, and has another one',
      completion: { status: 500 },
      shown: OTHER,
      replace: true,
      text: 'failed after these files became visible: web.ova (perhaps)\nimgctl: 127',
    },
    {
      what: 'sends a cut success for what replaces, and has another one',
      completion: { body: '<Done>' },
      shown: OTHER,
      replace: true,
      text: 'failed after these files became visible: web.ova (perhaps)\nimgctl: 127',
    },
    {
      what: 'has no such upload, and another object',
      completion: { status: 404 },
      shown: OTHER,
      text: DIFFERENT,
    },
    {
      what: 'has no such upload and no object',
      completion: { status: 404 },
      shown: null,
      text: /uploading\nimgctl: another push removed the upload of web\.ova\nhint: run the command again\n/,
    },
  ])('that $what fails, and removes its own object only', async (row) => {
    const { changes, completion, shown = {}, replace, text, isRemoved = false } = row;
    let isComplete = false;
    const { start, requests } = await pushTo(changes, (request, response) => {
      if (isCompletion(request)) {
        isComplete = true;
        return completion ?? response;
      }
      if (request.method !== 'HEAD' || !isComplete) return response;
      if (shown === null) return { status: 404 };
      return { headers: { ...response.headers, 'content-length': 17, ...shown } };
    });
    const options = `--no-sync --on-conflict ${replace ? 'replace' : 'fail'}`;
    expect(await start(options).ended).toEqual(failed(1, text));
    const removed = requests.filter(({ method, url }) => method === 'DELETE' && url.search === '');
    const own = expect.stringMatching(/^"?[0-9a-f]{32}-1"?$/);
    expect(removed.map(({ headers }) => headers['if-match'])).toEqual(isRemoved ? [own] : []);
  });

  it.each([400, 500])('that answers %i before the completion keeps the parts', async (status) => {
    let isSent = false;
    const { start, requests } = await pushTo({}, ({ method }, response) => {
      isSent ||= method === 'PUT';
      return method === 'HEAD' && isSent ? { status } : response;
    });
    expect(await start('--no-sync').ended).toEqual(failed(1, /uploading\nimgctl: 127.* HEAD/));
    expect(requests.some(({ method }) => method === 'DELETE')).toBe(false);
  });

  it('with its own keys that completes an upload without a response is read back', async () => {
    let content = Buffer.alloc(0);
    const { file, push } = await pushTo(
      { ...OPAQUE, content: () => content },
      (request, response) => (isCompletion(request) ? DROP : response),
    );
    content = readFileSync(file);
    expect(await push()).toMatchObject({ exitCode: 0 });
  });

  it('whose ETags of parts are not digests does not prove an object by its own ETag', async () => {
    const content = () => Buffer.alloc(2 ** 20);
    const { push } = await pushTo({ etag: OPAQUE.etag, content }, ({ method }, response) =>
      method === 'PUT' ? {} : response,
    );
    expect(await push()).toEqual(failed(1, DIFFERENT));
  });

  it.each(['', '<html><p>Done'])('that joins the parts and answers %j succeeds', async (body) => {
    const { push } = await pushTo({}, (request, response) =>
      isCompletion(request) ? { body } : response,
    );
    expect(await push()).toMatchObject({ exitCode: 0 });
  });

  it('that takes longer than --timeout to join the parts succeeds', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const script = s3({});
    const { start } = await pushToScript('s3', (request, index) => {
      const response = script(request, index);
      if (isCompletion(request)) vi.advanceTimersByTime(90_000);
      return response;
    });
    expect(await start('--no-sync --timeout 60s --debug').ended).toMatchObject({
      stderr: expect.stringMatching(/ POST \S+uploadId=1: 200 /),
      exitCode: 0,
    });
  });

  it.each([
    ['a part says that the file may have changed', 'PUT', 'BadDigest', 'hint: run .* changed'],
    ['the whole removes the upload', 'POST', 'InvalidPart', '400: InvalidPart'],
  ])('that refuses %s', async (_what, refused, code, text) => {
    const { push, requests } = await pushTo({
      refuse: ({ method, url }) =>
        method === refused && !url.searchParams.has('uploads') && s3Error(400, code),
    });
    expect(await push()).toEqual(failed(1, new RegExp(text)));
    // A later run continues the other parts.
    const isRemoved = requests.some(({ method }) => method === 'DELETE');
    expect(isRemoved).toBe(refused === 'POST');
  });

  it.each<[string, ScriptedResponse | undefined, boolean]>([
    ['is full', s3Error(507, 'StorageFull'), true],
    ['takes no files of this size', s3Error(400, 'EntityTooLarge'), true],
    ['no longer has the upload', s3Error(404, 'NoSuchUpload'), true],
    ['has got a damaged package', undefined, true],
    ['refuses', s3Error(403, 'AccessDenied'), false],
    ['fails', { status: 500 }, false],
  ])('that %s keeps parts only for a run that can use them', async (_what, response, isRemoved) => {
    const { file, push, requests } = await pushTo({
      refuse: ({ method }) => method === 'PUT' && (response ?? false),
    });
    if (!response) flipByte(file, -5_000);
    expect((await push()).exitCode).not.toBe(0);
    const removed = requestsTo({ requests }).filter((each) => each.startsWith('DELETE'));
    expect(removed).toEqual(isRemoved ? ['DELETE /bucket/web.ova?uploadId=1'] : []);
  });

  it('that does not show the object after its completion fails', async () => {
    const { push } = await pushTo({}, ({ method }, response) => {
      return method === 'HEAD' ? { status: 404 } : response;
    });
    expect(await push()).toEqual(failed(1, 'the upload of web.ova failed: it is missing\n'));
  });

  it('whose ETags are no digests is read back to compare it, and then no more', async () => {
    let content = Buffer.alloc(0);
    const storage = pushTo({ ...OPAQUE, content: () => content });
    const { file, push, start, requests } = await storage;
    expect(await push()).toMatchObject({ exitCode: 0 });
    expect(requests.some(({ headers }) => headers.range)).toBe(false);
    const pushLater = async () => {
      const { stderr } = await start('--no-sync', Date.now() + 10_000).ended;
      return [stderr.split('\n').at(-2), requests.splice(0).some(({ headers }) => headers.range)];
    };
    const right = readFileSync(file);
    content = Buffer.from(right);
    content[content.length - 1] = 1;
    expect(await pushLater()).toEqual([expect.stringContaining('hint: rename your file'), true]);
    content = right;
    expect(await pushLater()).toEqual(['imgctl: web.ova: already there', true]);
    expect(await pushLater()).toEqual(['imgctl: web.ova: already there', false]);
  });

  it.each([
    ['32M', '5M', 'its bytes'],
    ['5M', '5M', 'its digests'],
    ['5M', '6M', 'its bytes'],
  ])('that has the file in parts of %s compares with --part-size %s %s', async (own, size, by) => {
    let reads = 0;
    const { imgctl, work } = await storageUser('s3', [], ({ headers }) => {
      if (headers.range) reads += 1;
    });
    const file = writeOva(work, 'web', 5.5 * 2 ** 20);
    await imgctl(`push ${file} --no-sync --part-size ${own}`);
    const { stderr } = await imgctl(`push ${file} --no-sync --part-size ${size}`);
    expect(stderr).toContain('web.ova: already there\n');
    expect(reads > 0).toBe(by === 'its bytes');
  });

  it('that answers 503 gets each attempt with a signature of its own time', async () => {
    const busy = [{ status: 503, headers: { 'retry-after': '60' } }];
    const { start, requests } = await pushTo({}, ({ method }, response) =>
      method === 'PUT' ? (busy.pop() ?? response) : response,
    );
    const { io, ended } = start('--no-sync --retries 1');
    expect((await ended).exitCode).toBe(0);
    expect(io.sleeps).toEqual([60_000]);
    const puts = requests.filter(({ method }) => method === 'PUT');
    expect(new Set(puts.map(({ headers }) => headers['x-amz-date'])).size).toBe(2);
  });

  it.each([
    [501, 'NotImplemented'],
    [400, 'InvalidArgument'],
  ])('that refuses If-None-Match (%i %s) is asked once without', async (status, code) => {
    const header = 'if-none-match';
    const { file, start, requests } = await pushTo({
      refuse: ({ headers }) => header in headers && s3Error(status, code, `Unsupported ${header}`),
    });
    const other = writeOva(path.dirname(file), 'db');
    const { exitCode, stderr } = await start(`--no-sync ${other}`).ended;
    const warnings = stderr.match(
      /warning: the storage does not support If-None-Match: another machine may replace your upload\n/g,
    );
    expect({ exitCode, warnings }).toMatchObject({ exitCode: 0, warnings: { length: 1 } });
    const completions = requests.filter(isCompletion);
    const sent = completions.map(({ headers }) => [header in headers, headers['content-type']]);
    const type = 'application/xml';
    expect(sent).toEqual([true, false, false].map((isSent) => [isSent, type]));
    // Without If-None-Match, the object is looked for once more before it gets its name.
    const last = requests.indexOf(completions[1] as ScriptedRequest);
    const before = requestsTo({ requests: requests.slice(0, last) });
    expect(before.filter((each) => each === 'HEAD /bucket/web.ova')).toHaveLength(3);
  });

  it.each([
    ['the condition once', s3Error(400, 'RequestTimeout'), [true]],
    ['the rest with status 200', s3Error(501, 'NotImplemented'), [true, false]],
  ])('that refuses %s may take If-None-Match, and keeps the parts', async (_what, first, sent) => {
    const condition = 'if-none-match';
    const { push, requests } = await pushTo({
      refuse: (request) => {
        if (!isCompletion(request)) return false;
        return condition in request.headers ? first : s3Error(200, 'InternalError');
      },
    });
    const result = await push();
    expect(result).toEqual(failed(1, /imgctl: 127\S+ failed: POST/));
    expect(result.stderr).not.toContain('warning');
    const posts = requests.filter(isCompletion);
    expect(posts.map(({ headers }) => condition in headers)).toEqual(sent);
    expect(requests.some(({ method }) => method === 'DELETE')).toBe(false);
  });

  it.each([
    ['just before', 1, false],
    ['and is replaced just after', 2, true],
  ])('without If-None-Match stops if another push was there %s', async (_when, posts, isAfter) => {
    let completions = 0;
    const other = {
      headers: { etag: '"0123456789abcdef0123456789abcdef-1"', 'content-length': 1 },
    };
    const { push, requests } = await pushTo({
      refuse: (request) => {
        if (isCompletion(request)) completions += 1;
        if ('if-none-match' in request.headers) return s3Error(501, 'NotImplemented');
        return request.method === 'HEAD' && completions === (isAfter ? 2 : 1) && other;
      },
    });
    expect(await push()).toEqual(failed(1, 'already has a different web.ova'));
    expect(requests.filter(isCompletion)).toHaveLength(posts);
    const removed = requests.filter(({ method, url }) => method === 'DELETE' && url.search === '');
    expect(removed).toEqual([]);
  });

  it.each([
    ['the same status says the first reason', 400, 1, '(400: NameInvalid)\nhint: ask the admin'],
    ['429 keeps the parts', 429, 6, 'too many requests to 127'],
    ['403 keeps the parts', 403, 4, 'does not permit POST'],
  ])('that refuses both completions, the second with %s', async (_what, status, code, text) => {
    const { push, requests } = await pushTo({
      refuse: (request) => {
        // Nor does it remove the upload.
        if (request.method === 'DELETE') return DROP;
        if (!isCompletion(request)) return false;
        return 'if-none-match' in request.headers ? s3Error(400, 'NameInvalid') : { status };
      },
    });
    expect(await push()).toEqual(failed(code, text));
    expect(requests.filter(isCompletion)).toHaveLength(2);
    expect(requests.some(({ method }) => method === 'DELETE')).toBe(status === 400);
  });

  it.each([
    ['are another digest (s3rver)', { etag: '"5be6128e18c267976142ea7d17be3111"' }],
    ['are other texts (Google, Tencent)', { etag: '"-CKih16GjycICEAE="' }],
    ['are all the same', { etag: '"etag"' }],
    ['are missing', { etag: '' }],
  ])('whose ETags %s stores a file once, and knows it the second time', async (_what, shown) => {
    let content = Buffer.alloc(0);
    const hide = ({ method }: ScriptedRequest, response: ScriptedResponse) => {
      const isPart = method === 'PUT' && !/^"[0-9a-f]{32}"$/.test(shown.etag);
      const isHidden = isPart || (method === 'HEAD' && response.status !== 404);
      return isHidden ? { ...response, headers: { ...response.headers, ...shown } } : response;
    };
    const { file, start, requests } = await pushTo({ content: () => content }, hide);
    content = readFileSync(file);
    const states: unknown[] = [];
    for (const days of [0, 1, 2]) {
      const { exitCode, stderr } = await start('--no-sync', Date.now() + days * 86_400_000).ended;
      const isRead = requests.splice(0).some(({ headers }) => headers.range);
      states.push([exitCode, /web.ova: (uploaded|already there)/.exec(stderr)?.[1], isRead]);
    }
    // The last one reads nothing, if anything shows that the object has not changed.
    const later = [0, 'already there', shown.etag === ''];
    expect(states).toEqual([[0, 'uploaded', true], [0, 'already there', true], later]);
  });

  it.each([
    ['301', { status: 301, headers: { 'x-amz-bucket-region': 'eu-central-1' } }],
    ['400', s3Error(400, 'AuthorizationHeaderMalformed', 'x', '<Region>eu-central-1</Region>')],
  ])('in another region (%s) says which, and works with the command', async (_status, response) => {
    const isWrong = ({ headers }: ScriptedRequest) =>
      !`${headers.authorization}`.includes('/eu-central-1/s3/');
    const { push, imgctl } = await pushTo({ refuse: (request) => isWrong(request) && response });
    const { stderr, exitCode } = await push();
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringMatching(/^imgctl: the bucket is in the reg/),
    });
    const [, command = ''] =
      /hint: set the region: imgctl (config set upload-region \S+)\n/.exec(stderr) ?? [];
    await imgctl(command);
    expect((await push()).exitCode).toBe(0);
  });

  it('that does not know a request asks for no other keys', async () => {
    const { push } = await pushTo({
      refuse: ({ method }) => method === 'PUT' && s3Error(501, 'NotImplemented'),
    });
    expect(await push()).toEqual(failed(1, '(501: NotImplemented)\nhint: ask the administrators'));
  });

  it('at another host shows which', async () => {
    const endpoint = '<Endpoint>b.s3.example.com</Endpoint>';
    const { push } = await pushTo({
      refuse: () => s3Error(301, 'PermanentRedirect', 'Use it', endpoint),
    });
    const text =
      /\(301: PermanentRedirect: Use it: b.s3.example.com\)\nhint: use the host that it names/;
    expect(await push()).toEqual(failed(1, text));
  });

  it('that sends white space before the declaration is understood', async () => {
    const { push } = await pushTo({}, (_request, { body, ...response }) =>
      typeof body === 'string' && body !== ''
        ? { ...response, body: `\n   <?xml version="1.0"?>\n${body}` }
        : { ...response, ...(body && { body }) },
    );
    expect((await push()).exitCode).toBe(0);
  });

  it('that does not send the size of an object causes an error that says so', async () => {
    const headers = { etag: '"1"', 'transfer-encoding': 'chunked' };
    const { push } = await pushTo({ refuse: ({ method }) => method === 'HEAD' && { headers } });
    expect(await push()).toEqual(
      failed(
        1,
        /does not send the size of web.ova\nhint: ask the administrators to send Content-Length in responses to HEAD\n/,
      ),
    );
  });

  it.each(['variable', 'file', 'command'])(
    'gets the session token of temporary keys from a %s, and may say that it expired',
    async (from) => {
      const { push, imgctl, requests, file } = await pushTo({
        refuse: ({ method }) =>
          method === 'PUT' && s3Error(400, 'ExpiredToken', `${SECRETS.session} expired`),
      });
      const token = `${file}.token`;
      writeFileSync(token, `#!/bin/sh\necho ${SECRETS.session}\n`, { mode: 0o755 });
      await imgctl(`config set upload-session-token-command ${token}`);
      if (from === 'file') writeFileSync(token, `${SECRETS.session}\n`);
      const own = from === 'file' ? { IMGCTL_UPLOAD_SESSION_TOKEN_FILE: token } : {};
      const isOther = from !== 'variable';
      const { stderr } = await push(isOther ? { IMGCTL_UPLOAD_SESSION_TOKEN: '', ...own } : {});
      const text = /does not permit PUT .*\(400: ExpiredToken: \*\*\* expired\)\nhint: renew /;
      expect(stderr).toMatch(text);
      for (const { headers } of requests) {
        expect(headers['x-amz-security-token']).toBe(SECRETS.session);
        expect(headers.authorization).toContain('x-amz-security-token');
      }
    },
  );

  it('whose old uploads have no readable parts gets a new one, and then loses the old', async () => {
    const ids = Array.from({ length: 21 }, (_, number) => `old${number}`);
    const uploads = ids.map(
      (id) => `<Upload><Key>web.ova</Key><UploadId>${id}</UploadId></Upload>`,
    );
    const parts = (id: string | null) => (id === 'old7' ? '</' : '');
    uploads.push('<Upload><Key>web.ova.part</Key><UploadId>other</UploadId></Upload>');
    const { start, requests } = await pushTo({
      list: ({ url: { searchParams } }) =>
        searchParams.has('uploadId') ? parts(searchParams.get('uploadId')) : uploads.join(''),
    });
    const { io, ended } = start();
    await ended;
    expect(io.sleeps).toEqual([2_000]);
    const read = requests.filter(({ method }) => method === 'GET');
    const idsOfRead = read.flatMap(({ url }) => url.searchParams.get('uploadId') ?? []);
    expect(idsOfRead).toEqual(ids.slice(-20));
    const posts = requests.filter(({ method }) => method === 'POST');
    expect(posts.filter(({ url }) => url.searchParams.has('uploads'))).toHaveLength(1);
    expect(requests.filter(({ method }) => method === 'DELETE')).toHaveLength(ids.length);
  });

  it.each([
    ...[403, 405, 501].map((status) => ['uploads', status] as const),
    ...[403, 404, 405, 501].map((status) => ['uploadId', status] as const),
  ])('that answers the list of %s with %i gets a new upload', async (parameter, status) => {
    const { push, requests } = await pushTo({
      list: () => '<Upload><Key>web.ova</Key><UploadId>7</UploadId></Upload>',
      refuse: ({ method, url }) =>
        method === 'GET' && url.searchParams.has(parameter) && { status },
    });
    expect((await push()).exitCode).toBe(0);
    const puts = requests.filter(({ method }) => method === 'PUT');
    expect(puts.map(({ url }) => url.searchParams.get('uploadId'))).toEqual(['1']);
  });

  it('does not continue an upload that has a part of another file', async () => {
    const { imgctl, work, storage, stored } = await storageUser('s3', ['PUT /s3/*=500,every=2']);
    const name = (seed: string) => writeOva(work, 'web', 5.5 * 2 ** 20, seed);
    const options = '--no-sync --part-size 5M --parallel 1 --retries';
    await imgctl(`push ${name('a')} ${options} 0`);
    const before = storage.requests.length;
    expect((await imgctl(`push ${name('b')} ${options} 3`)).exitCode).toBe(0);
    const requests = requestsTo(storage);
    expect(requests.slice(before)).toContainEqual(expect.stringMatching(/^PUT .*partNumber=1&/));
    expect(requests.filter((each) => /^DELETE .*uploadId=/.test(each))).toHaveLength(1);
    expect(stored()).toEqual(['web.ova']);
  });
});

it('an upload to S3 sends a few parts at once, counts those that the storage had, and ends with its parts', async () => {
  const MIB = 2 ** 20;
  const read = async function* (start = 0, end = 6 * MIB) {
    for (let at = start; at < end; at += MIB / 2) {
      await new Promise(setImmediate);
      yield Buffer.alloc(MIB / 2, at / MIB);
    }
  };
  let [open, most, refused] = [0, 0, ''];
  const send = async ({ method = '', headers = {}, body, query }: S3Request) => {
    if (query?.partNumber === refused) throw new Error('refused');
    open += 1;
    most = Math.max(most, open);
    if (body) await buffer(body.chunks());
    await new Promise(setImmediate);
    open -= 1;
    const etag = Buffer.from(headers['content-md5'] ?? '', 'base64').toString('hex');
    const url = new URL('http://127.0.0.1');
    const rest = { wireBytes: 0, receivedAt: 0, endpoint: { of: 'storage' } } as const;
    return { method, url, status: 200, headers: { etag }, body: Buffer.alloc(0), ...rest };
  };
  const clock = fakeIo();
  const own = { send, clock, address: '', prefix: '', parallel: 2, partSize: MIB, onWarning() {} };
  const s3 = { ...own, limit: rateLimit(0, clock), found: { lacksConditions: false } };
  const file = { size: 6 * MIB, read, readAll: read };
  const sent: number[] = [];
  const etags = new Map([[2, createHash('md5').update(Buffer.alloc(MIB, 1)).digest('hex')]]);
  const upload = { s3, name: 'web.ova', id: '', file, etags };
  await sendParts(upload, (total) => sent.push(total / MIB));
  expect([most, sent[0], sent.at(-1)]).toEqual([2, 1, 6]);
  // The start of each part and its halves.
  expect(sent).toHaveLength(1 + 5 * 3);
  refused = '3';
  await expect(sendParts(upload, () => {})).rejects.toThrow('refused');
  expect(open).toBe(0);
});

it('the completion of an upload to S3 lists its parts, with the ETags that the storage gave', async () => {
  const bodies: string[] = [];
  const send = async ({ body }: S3Request) => {
    bodies.push(body ? await text(body.chunks()) : '');
    return { status: 200, body: Buffer.from('<Done><ETag>"e-2"</ETag></Done>') };
  };
  const etags = new Map([[2, '"a&b"']]);
  const upload = { s3: { send }, name: 'web.ova', id: '1', etags, md5s: ['m1', 'm2'] };
  const completion = await sendCompletion(
    upload as unknown as Parameters<typeof sendCompletion>[0],
    true,
  );
  expect(completion).toEqual({ kind: 'completed', sentTag: 'e-2' });
  const part = (number: number, tag: string) =>
    `<Part><PartNumber>${number}</PartNumber><ETag>&quot;${tag}&quot;</ETag></Part>`;
  expect(bodies).toEqual([
    `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${part(1, 'm1')}${part(2, 'a&amp;b')}</CompleteMultipartUpload>`,
  ]);
});
