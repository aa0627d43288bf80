// Storages that answer without end or with something else than they were sent: limits of time, XML and lists.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { failed, fakeIo, runCli } from '../support/io.ts';
import { type Handler, type ScriptedResponse, scriptedServer } from '../support/scripted-server.ts';
import { storageUser, writeOva } from '../support/uploads.ts';

/** Starts a push to a storage that is a script. */
async function setUp(kind: 'dav' | 's3', script: Handler) {
  const { env, work, imgctl } = await storageUser(kind);
  const { baseUrl, requests } = await scriptedServer(script);
  await imgctl(`config set upload-url ${kind}+${baseUrl}/bucket`);
  const file = writeOva(work, 'web');
  const start = (options = '--no-sync', time = Date.now()) => {
    const io = fakeIo({ env, time });
    const argv = `push ${file} --retries 0 --part-size 5M ${options}`.split(' ');
    return { io, ended: runCli(argv, io) };
  };
  return { file, requests, start, push: () => start().ended };
}

const multistatus = (content: string): ScriptedResponse => ({
  status: 207,
  body: `<multistatus xmlns="DAV:">${content}</multistatus>`,
});
const FOLDER =
  '<response><href>/bucket/</href><propstat><prop><resourcetype><collection/></resourcetype></prop></propstat></response>';
const nested = (depth: number) => `${'<response>'.repeat(depth)}${'</response>'.repeat(depth)}`;

/** Milliseconds of work, whatever else the machine does. */
const cpu = () => process.cpuUsage().user / 1_000;

describe('push to a WebDAV storage', () => {
  it.each([
    ['10 MB', nested(45).repeat(10_000), 'more than 4194304 bytes'],
    ['elements without end', '<response/>'.repeat(100_000), 'more than 100000 ele'],
    ['51 levels', nested(50), 'nested more than 50 levels deep'],
  ])('that sends XML of %s ends within 2 s with one line', async (_what, content, text) => {
    const { push } = await setUp('dav', () => multistatus(`${FOLDER}${content}`));
    const started = cpu();
    const line = new RegExp(`^imgctl: 127.* sent too much XML: ${text}.*\\nhint: .*\\n$`);
    expect(await push()).toEqual(failed(1, line));
    expect(cpu() - started).toBeLessThan(2_000);
  });

  it.each([
    ['ends within 2 s', 1],
    ['is interrupted by Ctrl-C', 130],
  ])('that sends the most XML that is read %s', async (_what, exitCode) => {
    const content = `${FOLDER}${nested(45).repeat(2_200)}`;
    let onSent = () => {};
    const { start } = await setUp('dav', ({ method }) => {
      if (method !== 'PROPFIND') return { status: 500 };
      const { body = '' } = multistatus(content);
      const head = `HTTP/1.1 207 Multi-Status\r\nContent-Length: ${body.length}\r\n\r\n`;
      return { raw: (socket) => socket.write(`${head}${body}`, () => onSent()) };
    });
    const started = cpu();
    const { io, ended } = start();
    if (exitCode === 130) onSent = () => io.interrupt();
    expect((await ended).exitCode).toBe(exitCode);
    expect(cpu() - started).toBeLessThan(2_000);
  });

  it.each([
    ['ends within --timeout', '1s', 3],
    ['is interrupted by Ctrl-C', '60s', 130],
  ])('whose response drips after the upload %s', async (_what, timeout, exitCode) => {
    let drops = 0;
    const { start } = await setUp('dav', ({ method, target }) => {
      if (method === 'PROPFIND')
        return target === '/bucket/' ? multistatus(FOLDER) : { status: 404 };
      return {
        raw: (socket) => {
          socket.write('HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n');
          const timer = setInterval(() => socket.write('x', () => (drops += 1)), 50);
          socket.on('close', () => clearInterval(timer));
        },
      };
    });
    const { io, ended } = start(`--no-sync --timeout ${timeout}`);
    await expect.poll(() => drops).toBeGreaterThan(2);
    if (exitCode === 130) io.interrupt();
    expect((await ended).exitCode).toBe(exitCode);
  });
});

/** A WebDAV storage without ETags that answers the first uploads with these responses, and then takes them. */
function dav(...responses: ScriptedResponse[]): Handler {
  const sizes = new Map<string, unknown>();
  return ({ method, target, headers }) => {
    const refusal = method === 'PUT' ? responses.shift() : undefined;
    if (refusal) return refusal;
    const { destination, 'content-length': length } = headers;
    if (method === 'PUT') sizes.set(target, length);
    if (method === 'MOVE') sizes.set(new URL(`${destination}`).pathname, sizes.get(target));
    if (method === 'MOVE' || method === 'DELETE') sizes.delete(target);
    if (method !== 'PROPFIND') return { status: 201 };
    if (target === '/bucket/') return multistatus(FOLDER);
    const size = `<response><getcontentlength>${sizes.get(target)}</getcontentlength></response>`;
    return sizes.has(target) ? multistatus(size) : { status: 404 };
  };
}

describe('an upload to WebDAV', () => {
  const busy = (status: number, seconds: number) => {
    return { status, headers: { 'retry-after': `${seconds}` } };
  };

  it.each<[string, number, number[], ...ScriptedResponse[]]>([
    ['as long as the response asks', 0, [2_000, 60_000], busy(503, 2), busy(429, 60)],
    ['at least the backoff', 0, [188, 375], busy(503, 0), { status: 500 }],
    ['not at all if the response asks for more than a minute', 1, [], busy(503, 61)],
    ['not at all after 501', 1, [], { status: 501 }],
  ])('waits before it is retried under another name: %s', async (_what, code, sleeps, ...busy) => {
    const { start, requests } = await setUp('dav', dav(...busy));
    const { io, ended } = start('--no-sync --retries 2', 0);
    expect((await ended).exitCode).toBe(code);
    expect(io.sleeps).toEqual(sleeps);
    const puts = requests.filter(({ method }) => method === 'PUT').map(({ target }) => target);
    expect(new Set(puts).size).toBe(sleeps.length + 1);
  });
});

it.each([
  ['dav', { 'retry-after': '90' }, 'in 1 min 30 s, at '],
  ['s3', { 'retry-after': '90' }, 'in 1 min 30 s, at '],
  ['dav', {}, 'later\n'],
] as const)(
  'push to %s refused with 429 and %j says when to try again',
  async (kind, headers, when) => {
    const { start } = await setUp(kind, () => ({ status: 429, headers }));
    const text = new RegExp(
      `^imgctl: too many requests to 127.* \\(429\\)\nhint: try again ${when}`,
    );
    expect(await start('--no-sync', 0).ended).toEqual(failed(6, text));
  },
);

it.each([
  ['refuses to list', { status: 403 }],
  ['has too many files to list', multistatus('<response/>'.repeat(100_000))],
])('push to a folder that WebDAV %s waits for other pushes, and succeeds', async (_what, list) => {
  const script = dav();
  const { start } = await setUp('dav', (request, index) =>
    request.headers.depth === '1' ? list : script(request, index),
  );
  const { io, ended } = start('--no-sync', 0);
  expect((await ended).exitCode).toBe(0);
  expect(io.sleeps).toEqual([2_000]);
});

it('push --on-conflict replace fails if a storage without ETags moves nothing', async () => {
  const names = new Map([['/bucket/web.ova', '']]);
  const { start } = await setUp('dav', ({ method, target, headers }) => {
    if (method === 'PUT') names.set(target, String(headers['content-length']));
    if (method === 'PUT') names.set('/bucket/web.ova', String(headers['content-length']));
    if (method === 'DELETE') names.delete(target);
    if (method !== 'PROPFIND') return { status: method === 'MOVE' ? 207 : 201 };
    if (target === '/bucket/') return multistatus(FOLDER);
    const size = names.get(target);
    const length = `<getcontentlength>${size}</getcontentlength>`;
    return size === undefined ? { status: 404 } : multistatus(`<response>${length}</response>`);
  });
  const result = await start('--no-sync --on-conflict replace').ended;
  expect(result).toEqual(failed(1, /127.* did not rename \.imgctl-.* to web\.ova\nhint: /));
  expect([...names.keys()]).toEqual(['/bucket/web.ova']);
});

it.each([
  [
    'replace',
    'the upload of web.ova failed: another file replaced it\nhint: run the command again',
  ],
  ['fail', 'already has a different web.ova'],
])(
  'push --on-conflict %s says that another push moved its file over this one',
  async (action, text) => {
    const files = new Map<string, string>();
    const { start } = await setUp('dav', ({ method, target, headers }) => {
      if (method === 'PUT') files.set(target, String(headers['content-length']));
      if (method === 'MOVE') files.set('/bucket/web.ova', files.get(target) ?? '');
      if (method !== 'PROPFIND') return { status: 201 };
      if (target === '/bucket/') return multistatus(FOLDER);
      const size = files.get(target);
      const facts = `<getcontentlength>${size}</getcontentlength><getetag>"${target}"</getetag>`;
      return size === undefined ? { status: 404 } : multistatus(`<response>${facts}</response>`);
    });
    const result = await start(`--no-sync --on-conflict ${action}`).ended;
    expect(result).toEqual(failed(1, text));
  },
);

it('push --on-conflict replace takes an ETag that is no longer weak for the same', async () => {
  const sizes = new Map<string, string>();
  const { start, requests } = await setUp('dav', ({ method, target, headers }) => {
    if (method === 'PUT') sizes.set(target, String(headers['content-length']));
    if (method === 'MOVE') sizes.set('/bucket/web.ova', sizes.get(target) ?? '');
    if (method !== 'PROPFIND') return { status: 201 };
    if (target === '/bucket/') return multistatus(FOLDER);
    const tag = target === '/bucket/web.ova' ? '"1"' : 'W/"1"';
    const size = sizes.get(target);
    const facts = `<getcontentlength>${size}</getcontentlength><getetag>${tag}</getetag>`;
    return size === undefined ? { status: 404 } : multistatus(`<response>${facts}</response>`);
  });
  expect((await start('--no-sync --on-conflict replace').ended).exitCode).toBe(0);
  expect(requests.map(({ method }) => method)).not.toContain('GET');
});

it('push --on-conflict replace reads back what a server gave a new ETag when it moved it', async () => {
  const sizes = new Map<string, string>();
  const { file, start, requests } = await setUp('dav', ({ method, target, headers }) => {
    if (method === 'PUT') sizes.set(target, String(headers['content-length']));
    if (method === 'MOVE') sizes.set('/bucket/web.ova', sizes.get(target) ?? '');
    if (method === 'GET') return { body: readFileSync(file) };
    if (method !== 'PROPFIND') return { status: 201 };
    if (target === '/bucket/') return multistatus(FOLDER);
    const size = sizes.get(target);
    const facts = `<getcontentlength>${size}</getcontentlength><getetag>"${target}"</getetag>`;
    return size === undefined ? { status: 404 } : multistatus(`<response>${facts}</response>`);
  });
  const result = await start('--no-sync --on-conflict replace').ended;
  expect(result.exitCode).toBe(0);
  expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(1);
});

describe('push to WebDAV that answers with a status within a multistatus', () => {
  const within = (status: string) =>
    multistatus(`<response><href>/x</href><status>HTTP/1.1 ${status}</status></response>`);

  it.each([
    ['404 for a file that is absent', 'PROPFIND', within('404 Not Found'), 0, 'web.ova: uploaded'],
    ['423 for a file', 'PROPFIND', within('423 Locked'), 1, 'has locked /bucket/web.ova (423)'],
    ['423 for a MOVE', 'MOVE', within('423 Locked'), 1, 'has locked /bucket/.imgctl-'],
    ['507 for a MOVE', 'MOVE', within('507 Full'), 1, 'is full (507)'],
  ])('%s takes it for that of the file', async (_what, refused, response, code, text) => {
    const script = dav();
    const isStored = ({ method, target }: { method: string; target: string }) =>
      method === 'PROPFIND' && target === '/bucket/web.ova';
    let isMoved = false;
    const { start } = await setUp('dav', (request, index) => {
      const isRefused = refused === 'MOVE' ? request.method === 'MOVE' : isStored(request);
      if (isRefused && !isMoved) return response;
      isMoved ||= request.method === 'MOVE';
      return script(request, index);
    });
    const result = await start('--no-sync', 0).ended;
    expect(result).toMatchObject({ exitCode: code, stderr: expect.stringContaining(text) });
  });

  it.each([
    [423, 1, /has locked \/bucket\/\.imgctl-.* \(423\)\nhint: wait until /],
    [409, 5, /^.*\nimgctl: folder http.*\/bucket does not exist\nhint: create it, /],
  ])('or with %i for the upload', async (status, code, text) => {
    const { push } = await setUp('dav', dav({ status }));
    expect(await push()).toEqual(failed(code, text));
  });
});

it('push to WebDAV waits for another that is about to move its file over this one', async () => {
  let part = '';
  let size = '';
  let owner = '';
  const facts = (name: string, tag: string) =>
    `<response><href>${name}</href><getcontentlength>${size}</getcontentlength><getetag>"${tag}"</getetag></response>`;
  const { start } = await setUp('dav', ({ method, target, headers }) => {
    if (method === 'PUT') [part, size] = [target, String(headers['content-length'])];
    if (method === 'MOVE') owner = 'this';
    if (method !== 'PROPFIND') return { status: 201 };
    if (target === part) return multistatus(facts(part, 'this'));
    if (owner === '') return target === '/bucket/' ? multistatus(FOLDER) : { status: 404 };
    if (target !== '/bucket/') return multistatus(facts(target, owner));
    owner = 'other';
    return multistatus(FOLDER + facts(part.replace(/\w{8}\.part$/, '00000000.part'), owner));
  });
  const { io, ended } = start('--no-sync', 0);
  expect(await ended).toEqual(failed(1, 'already has a different web.ova'));
  expect(io.sleeps).toEqual([2_000]);
});

/** What an S3 storage does with the upload of one part, and what a test changes of it. */
function s3(changes: {
  /** The size of the object, instead of that of the upload. */
  readonly size?: number;
  readonly list?: (request: Parameters<Handler>[0], index: number) => string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly etag?: string;
  /** What the object holds. */
  readonly content?: () => Buffer<ArrayBuffer>;
}): Handler {
  const { headers = {}, list } = changes;
  let md5 = Buffer.alloc(0);
  let stored = '';
  let size = 0;
  return (request, index) => {
    const { method, url, headers: sent } = request;
    const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(String(sent.range)) ?? [];
    const content = changes.content?.() ?? Buffer.alloc(0);
    if (first) return { status: 206, body: content.subarray(Number(first), Number(last) + 1) };
    if (method === 'GET') return { body: `<List>${list?.(request, index) ?? ''}</List>` };
    if (method === 'DELETE') stored = '';
    if (method === 'PUT') {
      md5 = Buffer.from(String(sent['content-md5']), 'base64');
      size = changes.size ?? Number(sent['content-length']);
      return { headers: { ...headers, etag: changes.etag ?? md5.toString('hex') } };
    }
    if (method === 'HEAD' && stored === '') return { status: 404 };
    if (method === 'HEAD')
      return { headers: { ...headers, etag: `"${stored}"`, 'content-length': size } };
    const isStart = url.searchParams.has('uploads');
    if (isStart) return { body: '<Done><UploadId>1</UploadId></Done>' };
    if (method === 'POST')
      stored = changes.etag ?? `${createHash('md5').update(md5).digest('hex')}-1`;
    return { body: `<Done><ETag>${stored}</ETag></Done>` };
  };
}

const OPAQUE = {
  headers: { 'x-amz-server-side-encryption': 'aws:kms' },
  etag: '0123456789abcdef0123456789abcdef-1',
};

describe('push to an S3 storage', () => {
  it.each([
    ['uploads repeats its marker', 'uploads', () => 'same', 2, '--no-sync'],
    ['uploads never ends', 'uploads', (index: number) => `${index}`, 1_000, '--no-sync'],
    ['parts never ends', 'uploadId', () => '1', 2, '--no-sync'],
    ['objects never ends', 'delimiter', () => 'a', 2, '--dry-run'],
  ])('whose list of %s fails', async (_what, parameter, marker, pages, options) => {
    const names = ['NextKeyMarker', 'NextPartNumberMarker', 'NextContinuationToken'];
    const script = s3({
      list: ({ url: { searchParams } }, index) => {
        const next = names.map((name) => `<${name}>${marker(index)}</${name}>`);
        return searchParams.has(parameter)
          ? `<IsTruncated>true</IsTruncated>${next.join('')}`
          : '<Upload><Key>web.ova</Key><UploadId>7</UploadId></Upload>';
      },
    });
    const { start, requests } = await setUp('s3', script);
    const result = await start(options).ended;
    expect(result).toEqual(failed(1, /^imgctl: .* sent an endless list\nhint: /));
    const lists = requests.filter(({ method }) => method === 'GET');
    expect(lists.filter(({ url }) => url.searchParams.has(parameter))).toHaveLength(pages);
  });

  it.each([
    ['the right ETag and another size afterwards', { size: 17 }],
    ['with its own keys another size', { ...OPAQUE, size: 17 }],
  ])('that shows %s fails, and removes the object', async (_what, changes) => {
    const { push, requests } = await setUp('s3', s3(changes));
    expect(await push()).toEqual(failed(1, 'the upload of web.ova failed: its size is 17\n'));
    expect(requests.map(({ method }) => method)).toContain('DELETE');
  });

  it('that names no ETags of objects keeps the one that another program stored meanwhile', async () => {
    const script = s3({});
    let isComplete = false;
    const { push, requests } = await setUp('s3', (request, index) => {
      const isCompletion = request.method === 'POST' && !request.url.searchParams.has('uploads');
      isComplete ||= isCompletion;
      if (isCompletion) return { body: '<Done/>' };
      if (request.method !== 'HEAD' || !isComplete) return script(request, index);
      return { headers: { 'content-length': 17 } };
    });
    const text = 'the upload of web.ova failed: its size is 17, and it was not removed\n';
    expect(await push()).toEqual(failed(1, text));
    const removed = requests.filter(({ method }) => method === 'DELETE');
    expect(removed.map(({ target }) => target)).toEqual(['/bucket/web.ova?uploadId=1']);
  });

  it('that takes longer than --timeout to join the parts succeeds', async () => {
    const script = s3({});
    const { start } = await setUp('s3', async (request, index) => {
      const isCompletion = request.method === 'POST' && !request.url.searchParams.has('uploads');
      if (isCompletion) await wait(1_500);
      return script(request, index);
    });
    const result = await start('--no-sync --timeout 1s').ended;
    expect(result).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['a part says that the file may have changed', 'PUT', 'BadDigest', 'hint: run .* changed'],
    ['the whole removes the upload', 'POST', 'InvalidPart', '400: InvalidPart'],
  ])('that refuses %s', async (_what, refused, code, text) => {
    const script = s3({});
    const { push, requests } = await setUp('s3', (request, index) =>
      request.method === refused && !request.url.searchParams.has('uploads')
        ? { status: 400, body: `<Error><Code>${code}</Code></Error>` }
        : script(request, index),
    );
    expect(await push()).toEqual(failed(1, new RegExp(text)));
    // A later run continues the other parts.
    const isRemoved = requests.some(({ method }) => method === 'DELETE');
    expect(isRemoved).toBe(refused === 'POST');
  });

  it('that completes the upload without an object fails', async () => {
    const script = s3({});
    const { push } = await setUp('s3', (request, index) => {
      return request.method === 'HEAD' ? { status: 404 } : script(request, index);
    });
    expect(await push()).toEqual(failed(1, 'the upload of web.ova failed: it is missing\n'));
  });

  it('whose ETags are no digests is read back to compare it, and then no more', async () => {
    let content = Buffer.alloc(0);
    const { file, push, start, requests } = await setUp(
      's3',
      s3({ ...OPAQUE, content: () => content }),
    );
    await push();
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
    ['32M', '6M'],
    ['6M', '6M'],
    ['6M', '7M'],
    // 7 MiB and 8 MiB make 4 parts of it.
    ['7M', '5M'],
  ])('that has the file in parts of %s compares it with --part-size %s', async (own, size) => {
    const { imgctl, work, folder } = await storageUser('s3');
    const file = writeOva(work, 'web', 27 * 2 ** 20);
    await imgctl(`push ${file} --no-sync --part-size ${own}`);
    const { stderr } = await imgctl(`push ${file} --no-sync --part-size ${size}`);
    expect(stderr).toContain('web.ova: already there\n');
    expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  });

  it('that answers 503 gets each attempt with a signature of its own time', async () => {
    const script = s3({});
    const { start, requests } = await setUp('s3', (request, index) => {
      const isFirst = requests.filter(({ method }) => method === 'PUT').length === 1;
      const isBusy = request.method === 'PUT' && isFirst;
      return isBusy ? { status: 503, headers: { 'retry-after': '60' } } : script(request, index);
    });
    const { ended } = start('--no-sync --retries 1', Date.now());
    expect((await ended).exitCode).toBe(0);
    const puts = requests.filter(({ method }) => method === 'PUT');
    expect(new Set(puts.map(({ headers }) => headers['x-amz-date'])).size).toBe(2);
  });

  it.each([
    ['x-amz-checksum-algorithm', 501, 'NotImplemented'],
    ['x-amz-checksum-algorithm', 400, 'InvalidArgument'],
    ['If-None-Match', 501, 'NotImplemented'],
    ['If-None-Match', 400, ''],
  ])(
    'that does not support %s (%i %s) names it, and keeps nothing',
    async (header, status, code) => {
      const script = s3({});
      const { push, requests } = await setUp('s3', (request, index) =>
        header.toLowerCase() in request.headers
          ? { status, body: `<Error><Code>${code}</Code></Error>` }
          : script(request, index),
      );
      const text = new RegExp(`does not support the header ${header} \\(${status}\\)\nhint: use `);
      expect(await push()).toEqual(failed(1, text));
      const ids = (method: string) =>
        requests.filter((each) => each.method === method && each.url.searchParams.has('uploadId'));
      expect(ids('DELETE')).toHaveLength(Math.min(ids('PUT').length, 1));
    },
  );

  it('that knows no CRC-32 gets none', async () => {
    const { push, requests } = await setUp('s3', s3({}));
    expect((await push()).exitCode).toBe(0);
    const [part] = requests.filter(({ method }) => method === 'PUT');
    expect(part?.headers).toHaveProperty('content-md5');
    expect(part?.headers).not.toHaveProperty('x-amz-checksum-crc32');
  });

  it.each([
    ['a part without checksum continues it', '', 0],
    ['a CRC-32 continues it', '<ChecksumCRC32>AAAAAA==</ChecksumCRC32>', 0],
    ['another checksum starts a new one', '<ChecksumSHA256>AA==</ChecksumSHA256>', 1],
    ['no parts starts a new one', undefined, 1],
  ])('that has an upload with %s', async (_what, checksum, starts) => {
    let md5 = '';
    const script = s3({
      list: ({ url: { searchParams } }) => {
        const tag = `<PartNumber>1</PartNumber><ETag>${md5}</ETag>`;
        if (searchParams.has('uploadId'))
          return checksum === undefined ? '' : `<Part>${tag}${checksum}</Part>`;
        return '<Upload><Key>web.ova</Key><UploadId>7</UploadId></Upload>';
      },
    });
    const { file, push, requests } = await setUp('s3', script);
    md5 = createHash('md5').update(readFileSync(file)).digest('hex');
    await push();
    const posts = requests.filter(({ method }) => method === 'POST');
    expect(posts.filter(({ url }) => url.searchParams.has('uploads'))).toHaveLength(starts);
  });

  it('does not continue an upload that has a part of another file', async () => {
    const { imgctl, work, seen, stored } = await storageUser('s3', ['PUT /s3/*=500,every=2']);
    const name = (seed: string) => writeOva(work, 'web', 11 * 2 ** 20, seed);
    const options = '--no-sync --part-size 5M --parallel 1 --retries';
    await imgctl(`push ${name('a')} ${options} 0`);
    const before = seen.storage.length;
    expect((await imgctl(`push ${name('b')} ${options} 3`)).exitCode).toBe(0);
    const requests = seen.storage.map(({ request }) => request);
    expect(requests.slice(before)).toContainEqual(expect.stringMatching(/^PUT .*partNumber=1&/));
    expect(requests.filter((each) => /^DELETE .*uploadId=/.test(each))).toHaveLength(1);
    expect(stored()).toEqual(['web.ova']);
  });
});
