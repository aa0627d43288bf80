// WebDAV storages that answer without end or with something else than they were sent: limits, statuses, renames.

import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { HttpResponse } from '../../src/http/message.ts';
import { type Dav, propfind } from '../../src/upload/dav-folder.ts';
import { failed } from '../support/io.ts';
import {
  type Handler,
  requestsTo,
  type ScriptedRequest,
  type ScriptedResponse,
  STALL,
} from '../support/scripted-server.ts';
import { pushToScript, writeOva } from '../support/uploads.ts';

const multistatus = (content: string): ScriptedResponse => ({
  status: 207,
  body: `<multistatus xmlns="DAV:">${content}</multistatus>`,
});
const FOLDER =
  '<response><href>/bucket/</href><propstat><prop><resourcetype><collection/></resourcetype></prop></propstat></response>';
const nested = (depth: number) => `${'<response>'.repeat(depth)}${'</response>'.repeat(depth)}`;

describe('push to a WebDAV storage', () => {
  it.each([
    ['more than 4 MiB', ' '.repeat(2 ** 22), 'more than 4194304 bytes'],
    ['elements without end', '<response/>'.repeat(100_000), 'more than 100000 ele'],
    ['51 levels', nested(50), 'nested more than 50 levels deep'],
  ])('that sends XML of %s is refused with one line', async (_what, content, text) => {
    const { push } = await pushToScript('dav', () => multistatus(`${FOLDER}${content}`));
    const line = new RegExp(`^imgctl: 127.* sent too much XML: ${text}.*\\nhint: .*\\n$`);
    expect(await push()).toEqual(failed(1, line));
  });

  it.each([
    ['ends within --timeout', 3],
    ['is interrupted by Ctrl-C', 130],
  ])('whose response drips after the upload %s', async (_what, exitCode) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    let drops = 0;
    const { start } = await pushToScript('dav', ({ method, target }) => {
      if (method === 'PROPFIND')
        return target === '/bucket/' ? multistatus(FOLDER) : { status: 404 };
      return {
        raw: (socket) => {
          socket.write('HTTP/1.1 201 Created\r\nContent-Length: 100000\r\n\r\n');
          const timer = setInterval(() => socket.write('x', () => (drops += 1)), 5);
          socket.on('close', () => clearInterval(timer));
        },
      };
    });
    const { io, ended } = start('--no-sync --timeout 60s');
    await expect.poll(() => drops).toBeGreaterThan(2);
    if (exitCode === 130) io.interrupt();
    else vi.advanceTimersByTime(60_000);
    expect((await ended).exitCode).toBe(exitCode);
  });
});

type Answer = (
  request: ScriptedRequest,
  sizes: Map<string, string>,
) => ScriptedResponse | undefined | false;

/**
 * A WebDAV storage, which keeps sizes.
 * @param answer what it answers instead
 * @param tagOf its ETags, by path
 */
function dav(answer: Answer = () => undefined, tagOf?: (target: string) => string): Handler {
  const sizes = new Map<string, string>();
  return (request) => {
    const { method, target, headers } = request;
    const instead = answer(request, sizes);
    if (instead) return instead;
    const { destination, 'content-length': length } = headers;
    if (method === 'PUT') sizes.set(target, `${length}`);
    if (method === 'MOVE') sizes.set(new URL(`${destination}`).pathname, `${sizes.get(target)}`);
    if (method === 'MOVE' || method === 'DELETE') sizes.delete(target);
    if (method !== 'PROPFIND') return { status: 201 };
    if (target === '/bucket/') return multistatus(FOLDER);
    return sizes.has(target) ? shown(target, sizes.get(target), tagOf?.(target)) : { status: 404 };
  };
}

const pushTo = (...changes: Parameters<typeof dav>) => pushToScript('dav', dav(...changes));

const shown = (target: string, size = '', tag = '') => multistatus(element(target, size, tag));
const element = (target: string, size: string, tag: string) =>
  `<response><href>${target}</href><getcontentlength>${size}</getcontentlength><getetag>${tag}</getetag></response>`;

describe('an upload to WebDAV', () => {
  it('sends no credentials without a user name, if the storage needs none', async () => {
    const { imgctl, push, requests } = await pushTo();
    await imgctl('config unset upload-username');
    expect((await push()).exitCode).toBe(0);
    expect(requests.map(({ headers }) => headers.authorization).filter(Boolean)).toEqual([]);
    expect(requests.length).toBeGreaterThan(3);
  });

  const busy = (status: number, seconds: number) => {
    return { status, headers: { 'retry-after': `${seconds}` } };
  };

  it.each<[string, number, number[], ...ScriptedResponse[]]>([
    ['as long as the response asks', 0, [2_000, 60_000], busy(503, 2), busy(429, 60)],
    ['at least the backoff', 0, [275, 375], busy(503, 0), { status: 500 }],
    ['as long as a restart takes', 0, [275, 1_100], { status: 502 }, { status: 504 }],
    ['not at all if the response asks for more than a minute', 1, [], busy(503, 61)],
    ['not at all after 501', 1, [], { status: 501 }],
  ])('waits before it is retried under another name: %s', async (_what, code, sleeps, ...busy) => {
    const { start, requests } = await pushTo(({ method }) => method === 'PUT' && busy.shift());
    const { io, ended } = start('--no-sync --retries 2', 0);
    expect((await ended).exitCode).toBe(code);
    expect(io.sleeps).toEqual(sleeps);
    const puts = requests.filter(({ method }) => method === 'PUT').map(({ target }) => target);
    expect(new Set(puts).size).toBe(sleeps.length + 1);
  });
});

it.each([
  ['gone', 0],
  ['gone before its size is known', 0],
  ['still listed', 5],
])(
  'push of a file that WebDAV cannot return any more, and that is %s, exits %i',
  async (what, exitCode) => {
    let isGone = false;
    const { push, file, requests } = await pushTo(({ method, target }, sizes) => {
      if (method === 'GET' || method === 'HEAD') {
        isGone = what !== 'still listed';
        return { status: 404 };
      }
      const isStored = target === '/bucket/web.ova' && !isGone && !sizes.has(target);
      const size = what === 'gone before its size is known' ? '' : `${statSync(file).size}`;
      return isStored && shown(target, size);
    });
    expect((await push()).exitCode).toBe(exitCode);
    expect(requests.map(({ method }) => method).includes('PUT')).toBe(exitCode === 0);
  },
);

it('push to WebDAV sends only the requests that a file needs', async () => {
  const { push, requests } = await pushTo();
  await push();
  const sent = requestsTo({ requests }).map((each) => each.replace(/\.imgctl-.*/, 'PART'));
  const [folder, part] = ['PROPFIND /bucket/', '/bucket/PART'];
  expect(sent).toEqual([
    // Is it there, does it have the file, and does it have dead parts?
    ...[folder, `${folder}web.ova`, folder],
    ...[`PUT ${part}`, `PROPFIND ${part}`, `MOVE ${part}`, `PROPFIND ${part}`],
    // Is a rival there, and whose file is it? At the end, dead parts again.
    ...[folder, `${folder}web.ova`, folder],
  ]);
});

it.each([
  [
    'has half of it',
    '5',
    /: 5 of \d+ bytes\nhint: run the command again; if it fails again, ask the administrators of the storage\n/,
  ],
  ['does not have it', '', /: it is gone\nhint: /],
])('push to WebDAV that %s after the upload fails, and removes it', async (_what, size, why) => {
  const { push, requests } = await pushTo(({ method, target }) => {
    if (method !== 'PROPFIND' || !target.includes('.imgctl-')) return undefined;
    return size === '' ? { status: 404 } : shown(target, size);
  });
  const { stderr, exitCode } = await push();
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(new RegExp(`the upload of web\\.ova failed${why.source}`));
  const methods = requests.map(({ method }) => method);
  expect([methods.includes('MOVE'), methods.includes('DELETE')]).toEqual([false, true]);
});

it('push to WebDAV does not replace a folder', async () => {
  const own = FOLDER.replace('/bucket/', '/bucket/web.ova/');
  const { start } = await pushTo(
    ({ method, target }) =>
      method === 'PROPFIND' && target === '/bucket/web.ova' && multistatus(own),
  );
  const text =
    /^imgctl: web\.ova in 127\S+ is not a file\nhint: rename your file, or remove the other from the storage\n$/;
  expect(await start('--no-sync --on-conflict replace').ended).toEqual(failed(1, text));
});

it('push --dry-run to WebDAV takes neither hidden files nor folders for packages', async () => {
  const files = ['.x.ova', 'notes.txt', 'zoo.ova'].map((name) =>
    element(`/bucket/${name}`, '1', ''),
  );
  const folder = FOLDER.replace('/bucket/', '/bucket/sub.ova/');
  const list = multistatus(FOLDER + folder + files.join(''));
  const { start } = await pushTo(({ headers }) => headers.depth === '1' && list);
  const { stdout } = await start('--dry-run --get name').ended;
  expect(stdout).toBe('web.ova\nweb.ova\nzoo.ova\n');
});

it.each([
  ['refuses to list', { status: 403 }],
  ['sends too much XML to list', multistatus(nested(51))],
])('push to a folder that WebDAV %s waits for other pushes, and succeeds', async (_what, list) => {
  const { start } = await pushTo(({ headers }) => headers.depth === '1' && list);
  const { io, ended } = start('--no-sync', 0);
  expect((await ended).exitCode).toBe(0);
  expect(io.sleeps).toEqual([2_000]);
});

it('push to WebDAV that is interrupted while it moves a file says that it may be visible', async () => {
  let interrupt = () => {};
  const { start } = await pushTo(({ method }) => {
    if (method !== 'MOVE') return undefined;
    interrupt();
    return STALL;
  });
  const { io, ended } = start();
  interrupt = io.interrupt;
  const text = 'web.ova failed after these files became visible: web.ova (perhaps)';
  expect(await ended).toEqual(failed(130, text));
});

it.each([
  ['is refused', 403, 4],
  ['is answered with an error', 500, 1],
])(
  'push to WebDAV whose look after a move %s says that the file may be visible',
  async (...row) => {
    const [, status, exitCode] = row;
    let isMoved = false;
    const { start } = await pushTo(({ method }) => {
      if (isMoved && method === 'PROPFIND') return { status };
      isMoved ||= method === 'MOVE';
      return undefined;
    });
    const text = 'web.ova failed after these files became visible: web.ova (perhaps)';
    expect(await start().ended).toEqual(failed(exitCode, text));
  },
);

it.each([
  ['of a proxy that does not wait says that the file', [504], true, 504],
  ['of the server does not say that the file', [404, 500], false, 500],
  ['of a proxy after a refused form of Destination says that the file', [400, 502], true, 400],
])(
  'push to WebDAV whose move gets an error %s may be visible',
  async (_whose, statuses, isLost, shown) => {
    const responses = statuses.map((status) => ({ status }));
    const { start } = await pushTo(({ method }) => method === 'MOVE' && responses.shift());
    const { exitCode, stderr } = await start().ended;
    expect([exitCode, stderr.includes('web.ova (perhaps)')]).toEqual([1, isLost]);
    expect(stderr).toContain(`(${shown})`);
  },
);

it('push to WebDAV names what it replaced if its source changes before that is read back', async () => {
  let file = '';
  const storage = pushTo(({ method, headers, target }, sizes) => {
    if (method === 'PUT') sizes.set('/bucket/web.ova', `${headers['content-length']}`);
    if (method === 'GET' && target === '/bucket/web.ova') return { body: Buffer.alloc(1) };
    if (method === 'MOVE') writeFileSync(file, 'changed');
    return undefined;
  }, byPath);
  const { start, ...rest } = await storage;
  file = rest.file;
  const text = 'web.ova failed after these files became visible: web.ova (perhaps)';
  const result = await start('--on-conflict replace').ended;
  expect(result).toEqual(failed(1, text));
});

it('push to WebDAV without ETags takes no old file for its own', async () => {
  const { file, start } = await pushTo(({ method, target }, sizes) => {
    sizes.set('/bucket/web.ova', `${statSync(file).size}`);
    if (method === 'GET') return { body: Buffer.alloc(statSync(file).size) };
    if (method === 'MOVE') sizes.delete(target);
    return method === 'MOVE' && { status: 404 };
  });
  const result = await start('--no-sync --on-conflict replace').ended;
  expect(result).toEqual(failed(1, 'web.ova failed: another file replaced it'));
});

it.each([
  ['without ETags moves nothing', ''],
  ['copies instead of moving', '"1"'],
])('push --on-conflict replace fails if a storage %s', async (_what, tag) => {
  const stored = '/bucket/web.ova';
  let files = new Map<string, string>();
  const { start } = await pushTo(
    ({ method, headers }, sizes) => {
      files = sizes;
      if (method === 'PUT') sizes.set(stored, `${headers['content-length']}`);
      return method === 'MOVE' && { status: 207 };
    },
    () => tag,
  );
  const result = await start('--no-sync --on-conflict replace').ended;
  expect(result).toEqual(failed(1, /web\.ova failed: 127.* did not rename its part\nhint: /));
  expect([...files.keys()]).toEqual([stored]);
});

/** Weak for the part and just after it was moved, as Apache does within a second. */
function weakAtFirst() {
  let shown = 0;
  return () => {
    shown += 1;
    return shown <= 2 ? 'W/"1"' : '"1"';
  };
}
const byPath = (target: string) => `"${target}"`;

it.each([
  [
    'replace',
    'with another ETag',
    'web.ova failed: another file replaced it\nhint: run the command again',
  ],
  ['fail', 'with another ETag', 'already has a different web.ova'],
  ['fail', 'of 5 bytes', 'already has a different web.ova'],
])('push --on-conflict %s says that another file %s replaced its own', async (...row) => {
  const [action, what, text] = row;
  let isMoved = false;
  const { start } = await pushTo(
    ({ method, target }) => {
      isMoved ||= method === 'MOVE';
      const isOther = isMoved && what === 'of 5 bytes' && target === '/bucket/web.ova';
      return isOther && shown(target, '5', '"1"');
    },
    what === 'of 5 bytes' ? () => '"1"' : byPath,
  );
  expect(await start(`--no-sync --on-conflict ${action}`).ended).toEqual(failed(1, text));
});

it('push --on-conflict replace takes a file with its ETag as renamed, though the server fails', async () => {
  const { start } = await pushTo(
    ({ method, target, headers }, sizes) => {
      if (method !== 'MOVE') return undefined;
      sizes.set(new URL(`${headers.destination}`).pathname, `${sizes.get(target)}`);
      sizes.delete(target);
      return { status: 500 };
    },
    () => '"1"',
  );
  expect((await start('--no-sync --on-conflict replace').ended).exitCode).toBe(0);
});

it.each([
  ['takes an ETag that is no longer weak for the same', 0, weakAtFirst()],
  ['reads back what a server gave a new ETag when it moved it', 1, byPath],
])('push --on-conflict replace %s', async (_what, reads, tagOf) => {
  let body = Buffer.alloc(0);
  const storage = pushTo(({ method }) => method === 'GET' && { body }, tagOf);
  const { file, start, requests } = await storage;
  body = readFileSync(file);
  expect((await start('--no-wait --on-conflict replace').ended).exitCode).toBe(0);
  expect(requests.filter(({ method }) => method === 'GET')).toHaveLength(reads);
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
    let isMoved = false;
    const { start } = await pushTo(({ method, target }) => {
      const isFile = method === 'PROPFIND' && target === '/bucket/web.ova' && !isMoved;
      isMoved ||= method === 'MOVE';
      return (refused === 'MOVE' ? method === 'MOVE' : isFile) && response;
    });
    const result = await start('--no-sync', 0).ended;
    expect(result).toMatchObject({ exitCode: code, stderr: expect.stringContaining(text) });
  });
});

it('push to WebDAV waits for another that is about to move its file over this one', async () => {
  let part = '';
  let owner = '';
  const { start } = await pushTo(
    ({ method, target }) => {
      if (method === 'PUT') part = target;
      if (method === 'MOVE') owner = 'this';
      if (method !== 'PROPFIND' || target !== '/bucket/' || owner === '') return undefined;
      owner = 'other';
      return multistatus(
        FOLDER + element(part.replace(/\w{8}\.partial$/, '00000000.partial'), '1', ''),
      );
    },
    (target) => (target === part ? 'this' : owner),
  );
  const { io, ended } = start('--no-sync', 0);
  expect(await ended).toEqual(failed(1, 'already has a different web.ova'));
  expect(io.sleeps).toEqual([2_000]);
});

it('push to WebDAV removes the dead parts behind one that it cannot remove', async () => {
  const dead = ['00000001', '00000002'].map((unique) => {
    return `/bucket/.imgctl-0123456789abcdef-elsewhere-1-${unique}.partial`;
  });
  const modified = '<getlastmodified>Thu, 01 Jan 2026 00:00:00 GMT</getlastmodified></response>';
  const parts = dead.map((part) => element(part, '1', '').replace('</response>', modified));
  const { start, requests } = await pushTo(({ method, target, headers }) => {
    if (headers.depth === '1') return multistatus(FOLDER + parts.join(''));
    return method === 'DELETE' && target === dead[0] && { status: 403 };
  });
  const { io, ended } = start('--no-sync', Date.parse('2026-02-01'));
  expect((await ended).exitCode).toBe(0);
  // They are no parts of this file, whose move need not be waited for.
  expect(io.sleeps).toEqual([]);
  const sent = requestsTo({ requests });
  // Before the upload, which may need their room.
  const put = sent.findIndex((request) => request.startsWith('PUT '));
  expect(sent.slice(0, put)).toContain(`DELETE ${dead[1]}`);
});

const SABRE = (message: string) =>
  `<?xml version="1.0"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>Sabre\\DAV\\X</s:exception><s:message>${message}</s:message></d:error>`;
const PAGE =
  '<!DOCTYPE html>\n<html><head><title>415 Bad</title><style>p { x }</style></head><body><h1>Unsupported</h1>\n<p>Media\tType</p></body></html>';
const ADMINISTRATORS = 'ask the administrators of the storage, or of a proxy in front of it';

describe('push to a WebDAV storage that refuses an upload', () => {
  it.each([
    [
      'in XML of SabreDAV',
      400,
      SABRE('"x" is a forbidden file type.'),
      '400: "x" is a forbidden file type.',
    ],
    [
      'with a precondition',
      423,
      '<D:error xmlns:D="DAV:"><D:lock-token-submitted/></D:error>',
      '423: lock-token-submitted',
    ],
    ['in JSON', 400, '{"status":400,"message":"no such owner"}', '400: no such owner'],
    ['in JSON in Latin-1', 400, Buffer.from('{"message":"caf\u00e9"}', 'latin1'), '400: caf\ufffd'],
    ['in text with a number', 400, 'Error 500 of 2', '400: Error 500 of 2'],
    ['in JSON without a message', 400, '{"status":400}', '400: {"status":400}'],
    ['in a page', 415, PAGE, '415: Unsupported Media Type'],
    ['in a page nested deep', 415, `${'<b>'.repeat(51)}Why${'</b>'.repeat(51)}`, '415: Why'],
    ['in text', 411, '411 Length\u0007\r\nRequired\u202e', '411: Length Required'],
    ['in text with what looks like a tag', 400, 'no a<b>c', '400: no a<b>c'],
    ['in XML with it', 400, SABRE('no a&lt;b>c'), '400: no a<b>c'],
    ['in nothing', 400, '', '400'],
    ['in too many words', 400, 'word '.repeat(100), `400: ${'word '.repeat(39)}word…`],
    ['in one long word', 400, 'x'.repeat(500), `400: ${'x'.repeat(199)}…`],
    ['after many blanks', 400, `${' '.repeat(16_373)}long-secrets`, '400: long-secre…'],
    ['in a page without an end', 400, `<p>Why</p><style>${'x '.repeat(50_000)}`, '400: Why'],
  ])('%s shows its words in one line', async (_how, status, body, words) => {
    const { push } = await pushTo(({ method }) => method === 'PUT' && { status, body });
    const result = await push();
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain(`(${words})\nhint: `);
  });

  const DIGEST = 'offers no Basic authentication, only Digest';
  it.each([
    [401, `${DIGEST} \\(401: no such owner\\)\nhint: ask `, 4],
    [409, 'refused PUT /bucket/\\.imgctl-.* \\(409: no such owner\\)\nhint: ask ', 1],
    [423, 'has locked /bucket/\\.imgctl-.* \\(423: no such owner\\)\nhint: wait until ', 1],
    [
      404,
      'does not exist .*\nhint: check the permissions of the user, and that the server accepts names that begin with a dot\n',
      5,
    ],
    [
      403,
      `does not permit PUT .*\nhint: check the permissions of the user, and that the server accepts names that begin with a dot\n`,
      4,
    ],
    [
      405,
      'refused PUT .*\nhint: the server must allow PROPFIND, PUT, MOVE and DELETE; nginx needs its module dav-ext\n',
      1,
    ],
    [
      501,
      'failed: PUT .*\nhint: the server must allow PROPFIND, PUT, MOVE and DELETE; nginx needs its module dav-ext\n',
      1,
    ],
    [411, `refused PUT .*\nhint: ${ADMINISTRATORS}`, 1],
  ])('with %i says what it needs', async (status, text, exitCode) => {
    const headers = { 'www-authenticate': 'Digest realm="basic-files", nonce="1"' };
    const response = { status, headers, body: 'no such owner' };
    const { push } = await pushTo(({ method }) => method === 'PUT' && response);
    expect(await push()).toEqual(failed(exitCode, new RegExp(text)));
  });

  it('removes what may have arrived of it', async () => {
    const { push, requests } = await pushTo(({ method }) => method === 'PUT' && { status: 400 });
    await push();
    const [put, ...removed] = requests.filter(({ method }) => ['PUT', 'DELETE'].includes(method));
    expect(requestsTo({ requests: removed })).toEqual([`DELETE ${put?.target}`]);
  });

  it('refuses the credentials if it also offers other schemes', async () => {
    const headers = { 'www-authenticate': 'Digest realm="files", nonce="1", Basic realm="files"' };
    const { push } = await pushTo(({ method }) => method === 'PUT' && { status: 401, headers });
    expect(await push()).toEqual(failed(4, /refused the credentials \(401\)\nhint: check /));
  });

  it.each([
    ['in XML', 'long-password', SABRE],
    [
      'in a page, with what looks like a tag',
      'ab<cd>\uf8ffefghijk',
      (says: string) => `<p>${says}</p>`,
    ],
    ['as it is, with what looks like a status', '404 abcdefgh', (says: string) => says.slice(3)],
  ])('shows no password that it sends back %s', async (_how, password, bodyOf) => {
    const { push } = await pushTo(({ method, headers }) => {
      const [, pair = ''] = `${headers.authorization}`.split(' ');
      return method === 'PUT' && { status: 400, body: bodyOf(`no ${password}, no ${pair}`) };
    });
    const { stderr } = await push({ IMGCTL_UPLOAD_PASSWORD: password });
    expect(stderr).toMatch(/\(400: (?:no )?\*\*\*, no \*\*\*\)/);
  });
});

describe('push to WebDAV', () => {
  const sizeless = (target: string) =>
    shown(target)
      .body?.toString()
      .replace(/<getcontentlength.*h>/, '') ?? '';

  it.each([
    ['asks with HEAD for a size that PROPFIND leaves out', true, 0, 'web.ova: uploaded'],
    ['names a size that no response has', false, 1, 'does not send the size of .imgctl-'],
  ])('%s', async (_what, hasHead, exitCode, text) => {
    const { push } = await pushTo(({ method, target }, sizes) => {
      if (!sizes.has(target)) return undefined;
      const headers = hasHead
        ? { 'content-length': sizes.get(target) }
        : { 'transfer-encoding': 'chunked' };
      if (method === 'HEAD') return { headers };
      return method === 'PROPFIND' && { status: 207, body: sizeless(target) };
    });
    expect(await push()).toMatchObject({ exitCode, stderr: expect.stringContaining(text) });
  });

  it.each([502, 400])(
    'gives a server that answers %i to a whole destination its path from then on',
    async (status) => {
      const { file, start, requests } = await pushTo(({ method, target, headers }, sizes) => {
        if (method !== 'MOVE') return undefined;
        const destination = `${headers.destination}`;
        if (!destination.startsWith('/')) return { status };
        sizes.set(destination, `${sizes.get(target)}`);
        sizes.delete(target);
        return { status: 201 };
      });
      const other = writeOva(path.dirname(file), 'db');
      expect((await start(`--no-sync ${other}`).ended).exitCode).toBe(0);
      const moves = requests.filter(({ method }) => method === 'MOVE');
      const [first, ...others] = moves.map(({ headers }) => `${headers.destination}`);
      expect(first).toMatch(/^http:.*ova$/);
      expect(others.sort()).toEqual(['/bucket/db.ova', '/bucket/web.ova']);
    },
  );

  it.each([
    ['takes a file as renamed that is locked only afterwards', [423], true, 'web.ova: uploaded'],
    ['takes a file as renamed if the server fails after that', [500], true, 'web.ova: uploaded'],
    ['takes a file that a proxy did not wait for as renamed', [504], true, 'web.ova: uploaded'],
    [
      'takes a file as renamed whose path is not found later',
      [400, 404],
      true,
      'web.ova: uploaded',
    ],
    [
      'says what a proxy needs if each form of a destination is refused',
      [502, 404],
      false,
      'hint: a proxy in front of the server must pass Host on; nginx: proxy_set_header Host $http_host\n',
    ],
  ])('%s', async (_what, statuses, isMoved, text) => {
    const left = [...statuses];
    const { push } = await pushTo(({ method, target, headers }, sizes) => {
      if (method !== 'MOVE') return undefined;
      const [status = 0] = left.length > 1 ? left.splice(0, 1) : left;
      if (isMoved && status === statuses.at(-1) && sizes.has(target)) {
        const { pathname } = new URL(`${headers.destination}`, 'http://x');
        sizes.set(pathname, `${sizes.get(target)}`);
        sizes.delete(target);
      }
      return { status, body: PAGE };
    });
    const exitCode = isMoved ? 0 : 1;
    expect(await push()).toMatchObject({ exitCode, stderr: expect.stringContaining(text) });
  });
});

it.each<[string, ScriptedResponse, RegExp]>([
  ['sends no HTTP', { raw: (socket) => socket.end('?') }, /did not send a valid HTTP response/],
  [
    'returns all of it each time',
    { body: Buffer.alloc(17 * 2 ** 20) },
    /imgctl cannot compare them: the server does not return parts of files; rename your file, /,
  ],
])('push to WebDAV that compares a file says that the server %s', async (_what, answer, text) => {
  const { push } = await pushTo(({ method }) => method === 'GET' && answer);
  await push();
  expect(await push()).toEqual(failed(1, text));
});

it('push to WebDAV compares again if another push replaces the stored file meanwhile', async () => {
  let reads = 0;
  const replacing: Answer = ({ method }) => {
    if (method === 'GET') reads += 1;
    return method === 'GET' && reads === 1 && { status: 404 };
  };
  const { push } = await pushTo(replacing, () => `"${reads}"`);
  await push();
  expect(await push()).toEqual(failed(1, /already has a different web\.ova/));
  expect(reads).toBe(2);
});

it('push to WebDAV reads in gzip why a file cannot be read back', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const refusal = { status: 403, body: gzipSync('no readers'), headers };
  const { push } = await pushTo(({ method }) => method === 'GET' && refusal);
  await push();
  expect((await push()).stderr).toContain('(403: no readers)');
});

it.each(['', 'aws-chunked', 'gzip', 'br', 'zstd', 'aws-chunked, gzip'])(
  'push to WebDAV compares a file with Content-Encoding %j as it is',
  async (coding) => {
    let body = Buffer.alloc(0);
    const storage = pushTo(
      ({ method }) => method === 'GET' && { body, headers: { 'content-encoding': coding } },
    );
    const { file, push } = await storage;
    body = readFileSync(file);
    await push();
    const text = 'web.ova: reading\nimgctl: web.ova: already there';
    expect((await push()).stderr).toContain(text);
  },
);

it('a PROPFIND asks for the properties that push needs', async () => {
  const bodies: string[] = [];
  const send: Dav['send'] = async ({ url, body }) => {
    bodies.push(body ? await text(body.chunks()) : '');
    return { status: 404, headers: {}, body: Buffer.alloc(0), url } as HttpResponse;
  };
  expect(await propfind({ send } as Dav, new URL('http://127.0.0.1/a'), 0)).toEqual([]);
  const properties = '<getcontentlength/><getetag/><getlastmodified/><resourcetype/>';
  expect(bodies).toEqual([
    `<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>${properties}</prop></propfind>`,
  ]);
});
