// Deliberate misbehaviour: parses `--fault`, picks the fault of a request and applies it.

import { type ServerResponse, STATUS_CODES } from 'node:http';
import { ImgctlError } from '../errors.ts';
import { type ApiResponse, errorResponse, HttpError, sendResponse } from './api-request.ts';

/** The last one disturbs uploads only. */
const NAMED_KINDS = ['drop', 'stall', 'html', 'partial'] as const;

export type FaultKind =
  | { readonly type: 'status'; readonly status: number; readonly retryAfter?: number }
  /** The status after the whole body of an upload was read. */
  | { readonly type: 'late'; readonly status: number }
  /** Closes the connection when so many bytes of an upload have arrived. */
  | { readonly type: 'drop-after'; readonly bytes: number }
  | { readonly type: (typeof NAMED_KINDS)[number] };

export interface Fault {
  readonly method: string;
  readonly path: string;
  readonly kind: FaultKind;
  /** `always`, or how `count` is meant: the first requests, or every one of that number. */
  readonly when: string;
  readonly count: number;
}

const SPEC = /^(\*|[A-Z]+) (\*|\/[^\s=]*)=([^,]+)(?:,(first|every)=([1-9]\d{0,8}))?$/;

/**
 * Parses `METHOD PATH=KIND[,first=N|,every=N]`, such as `GET /v2/image=503,first=2`. `*` is any
 * method, or at the end of the path any text. Without first or every, the count is 1.
 * @throws ImgctlError usage
 */
export function parseFault(spec: string): Fault {
  const [, method, path, kind, when = 'always', count = '1'] = SPEC.exec(spec) ?? [];
  if (method === undefined || path === undefined || kind === undefined) {
    throw wrongFault(`--fault must be METHOD PATH=KIND[,first=N|,every=N] (got ${spec})`);
  }
  return { method, path, kind: parseKind(kind), when, count: Number(count) };
}

function parseKind(text: string): FaultKind {
  const named = NAMED_KINDS.find((name) => name === text);
  if (named !== undefined) return { type: named };
  const [, kind = '', digits] = /^(late:|drop:|429:|)(\d{1,12})$/.exec(text) ?? [];
  const number = Number(digits);
  if (kind === 'drop:') return { type: 'drop-after', bytes: number };
  if (kind === '429:') return { type: 'status', status: 429, retryAfter: number };
  const isLate = kind === 'late:';
  if (number >= (isLate ? 400 : 300) && number <= 599) {
    return { type: isLate ? 'late' : 'status', status: number };
  }
  throw wrongFault(`unknown kind of fault '${text}'`);
}

function wrongFault(message: string): ImgctlError {
  const facts = 'list the kinds of faults with: imgctl emulator --help';
  return new ImgctlError('usage', message, { facts });
}

export function createFaultPicker(faults: readonly Fault[]) {
  const counted = faults.map((fault) => ({ fault, seen: 0 }));
  return (method: string, path: string): FaultKind | undefined => {
    const matching = counted.filter(({ fault }) => {
      const prefix = fault.path.slice(0, -1);
      const isPath = fault.path.endsWith('*') ? path.startsWith(prefix) : path === fault.path;
      return isPath && (fault.method === '*' || fault.method === method);
    });
    for (const entry of matching) entry.seen += 1;
    const due = matching.find(({ fault: { when, count }, seen }) => {
      return when === 'first' ? seen <= count : seen % count === 0;
    });
    return due?.fault.kind;
  };
}

const HTML_PAGE = '<!doctype html><title>Sign in</title><h1>Sign in to this network</h1>';

/** Returns the response that replaces that of the service; undefined for faults of delivery. */
export function faultResponse(fault: FaultKind): ApiResponse | undefined {
  if (fault.type === 'html') {
    const headers = { 'Content-Type': 'text/html; charset=utf-8' };
    return { status: 200, headers, body: HTML_PAGE };
  }
  if (fault.type !== 'status') return undefined;
  const { status, retryAfter } = fault;
  return errorResponse(
    new HttpError(status, `Fault injected: ${STATUS_CODES[status] ?? status}.`, {
      ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
      ...(status < 400 ? { Location: 'http://elsewhere.invalid/' } : {}),
    }),
  );
}

export function sendWithFault(stream: ServerResponse, response: ApiResponse, fault?: FaultKind) {
  // The client may have disconnected in the meantime.
  if (stream.destroyed) return;
  if (fault?.type === 'drop') stream.destroy();
  else if (fault?.type !== 'stall') sendResponse(stream, response);
}
