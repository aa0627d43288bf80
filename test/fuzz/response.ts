// An HTTP response as bytes, valid or not.

import type { Socket } from 'node:net';

export type Header = readonly [name: string, value: string];

/** A response that mutations change. */
export class Draft {
  readonly method: string;
  status: number;
  version = '1.1';
  /** All headers but those of the framing. */
  headers: Header[];
  body: Buffer;
  framing: 'length' | 'chunked' | 'until-close' = 'length';
  /** Added to the true content-length. */
  lengthError = 0;
  /** Sent first: interim responses or junk. */
  before = '';
  /** Sent last: a second response or junk. */
  after = '';
  /** The share of all bytes that is sent. */
  sent = 1;
  /** How the connection ends; `keep` needs a response whose end the client can see. */
  end: 'keep' | 'close' | 'reset' = 'keep';

  constructor(method: string, status: number, headers: readonly Header[], body: Buffer) {
    this.method = method;
    this.status = status;
    this.headers = [...headers];
    this.body = body;
  }
}

/** Returns the bytes; headers are in latin1, so that they may contain any byte. */
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

/** True if a client sees the end of the response while the connection stays open. */
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

/** Sends the response. Closes the connection if the client would wait for more. */
export function deliver(draft: Draft, socket: Socket): void {
  const bytes = wireBytes(draft);
  const end = draft.end === 'keep' && !isSelfContained(draft) ? 'close' : draft.end;
  if (end === 'keep') socket.write(bytes);
  else if (end === 'close') socket.end(bytes);
  else socket.write(bytes, () => socket.resetAndDestroy());
}
