// An HTTP answer as the bytes that go over the wire, right or wrong.

import type { Socket } from 'node:net';

export type Header = readonly [name: string, value: string];

/** A mutable draft, which mutations change in turn. */
export interface Draft {
  readonly method: string;
  status: number;
  version: string;
  /** Without those that tell where the body ends. */
  headers: Header[];
  body: Buffer;
  framing: 'length' | 'chunked' | 'until-close';
  /** Added to the true content-length. */
  lengthError: number;
  /** Sent before: interim answers, or what is no HTTP at all. */
  before: string;
  /** Sent after: a second answer, or junk. */
  after: string;
  /** The share of all bytes that is sent. */
  sent: number;
  /** How the connection ends; kept only where the client can tell that the answer has ended. */
  end: 'keep' | 'close' | 'reset';
}

export function draftOf(
  method: string,
  status: number,
  headers: readonly Header[],
  body: Buffer,
): Draft {
  return {
    method,
    status,
    version: '1.1',
    headers: [...headers],
    body,
    framing: 'length',
    lengthError: 0,
    before: '',
    after: '',
    sent: 1,
    end: 'keep',
  };
}

/** The bytes, in latin1 for headers, so that any byte can stand in them. */
export function wireBytes(draft: Draft): Buffer {
  const { status, version, headers, framing, before, after, sent } = draft;
  const body = draft.method === 'HEAD' ? Buffer.alloc(0) : draft.body;
  const length = Math.max(0, draft.body.length + draft.lengthError);
  const frame =
    framing === 'length'
      ? `content-length: ${length}\r\n`
      : framing === 'chunked'
        ? 'transfer-encoding: chunked\r\n'
        : '';
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const head = `HTTP/${version} ${status} Whatever\r\n${frame}${lines}\r\n`;
  const bytes = Buffer.concat([
    Buffer.from(before + head, 'latin1'),
    framing === 'chunked' ? chunked(body) : body,
    Buffer.from(after, 'latin1'),
  ]);
  return bytes.subarray(0, Math.floor(bytes.length * sent));
}

function chunked(body: Buffer): Buffer {
  const middle = Math.floor(body.length / 2);
  const chunks = [body.subarray(0, middle), body.subarray(middle)]
    .filter(({ length }) => length > 0)
    .flatMap((chunk) => [Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, CRLF]);
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

const CRLF = Buffer.from('\r\n');

const FRAMING_HEADERS = ['content-length', 'transfer-encoding', 'connection', 'keep-alive'];

/** Whether a client sees where the answer ends while the connection stays open. */
function isSelfContained({ method, status, version, framing, ...draft }: Draft): boolean {
  const bodiless = status < 200 || status === 204 || status === 304;
  return (
    method !== 'HEAD' &&
    !bodiless &&
    version === '1.1' &&
    framing !== 'until-close' &&
    !draft.headers.some(([name]) => FRAMING_HEADERS.includes(name)) &&
    draft.lengthError === 0 &&
    draft.before + draft.after === '' &&
    draft.sent === 1
  );
}

/** Sends the answer. Whatever could leave a client waiting ends with the connection: nothing stalls. */
export function deliver(draft: Draft, socket: Socket): void {
  const bytes = wireBytes(draft);
  const end = draft.end === 'keep' && !isSelfContained(draft) ? 'close' : draft.end;
  if (end === 'keep') socket.write(bytes);
  else if (end === 'close') socket.end(bytes);
  else socket.write(bytes, () => socket.resetAndDestroy());
}
