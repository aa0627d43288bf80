// Misbehaviour on purpose: what a `--fault` says, and which request gets it.

/** A status, with the seconds of Retry-After for 429, stands in for the answer of the service. */
export interface StatusFault {
  readonly type: 'status';
  readonly status: number;
  readonly retryAfter: number | undefined;
}

const NAMED_KINDS = ['drop', 'stall', 'drip', 'html', 'truncate'] as const;

export type FaultKind = StatusFault | { readonly type: (typeof NAMED_KINDS)[number] };

export interface Fault {
  /** A method, or `*` for all. */
  readonly method: string;
  /** A path, or one that ends in `*` for all that begin like it. The query plays no part. */
  readonly path: string;
  readonly kind: FaultKind;
  /** Which of the matching requests: all, the first `count`, or every `count`-th. */
  readonly when: 'always' | 'first' | 'every';
  readonly count: number;
}

const SPEC = /^(\*|[A-Z]+) (\/[^\s=]*)=([^,]+)(?:,(first|every)=([1-9]\d{0,8}))?$/;

/**
 * Reads a fault such as `GET /v2/image=503,first=2`: METHOD PATH=KIND[,first=N|,every=N].
 * METHOD may be `*`, PATH may end in `*`; KIND is a status, drop, stall, drip, html, truncate or 429:SECONDS.
 * A plain Error with a message of one line when it is wrong.
 */
export function parseFault(spec: string): Fault {
  const [, method, path, kind, when = 'always', count = '1'] = SPEC.exec(spec) ?? [];
  if (method === undefined || path === undefined || kind === undefined) {
    throw new Error(`fault "${spec}" is not METHOD PATH=KIND[,first=N|,every=N]`);
  }
  return {
    method,
    path,
    kind: parseKind(spec, kind),
    when: when === 'first' || when === 'every' ? when : 'always',
    count: Number(count),
  };
}

function parseKind(spec: string, text: string): FaultKind {
  const named = NAMED_KINDS.find((name) => name === text);
  if (named !== undefined) return { type: named };
  const [, status, seconds] = /^([345]\d\d)$|^429:(\d{1,9})$/.exec(text) ?? [];
  if (seconds !== undefined) return { type: 'status', status: 429, retryAfter: Number(seconds) };
  if (status !== undefined)
    return { type: 'status', status: Number(status), retryAfter: undefined };
  throw new Error(
    `fault "${spec}": the kind "${text}" is none of a status from 300 to 599, ${NAMED_KINDS.join(', ')}, 429:SECONDS`,
  );
}

/** Picks the fault of a request: the first that matches and whose turn it is. */
export type FaultPicker = (method: string, path: string) => FaultKind | undefined;

/** Counts, for each fault, the requests that match it. */
export function createFaultPicker(faults: readonly Fault[]): FaultPicker {
  const counted = faults.map((fault) => ({ fault, seen: 0 }));
  return (method, path) => {
    const matching = counted.filter(({ fault }) => matches(fault, method, path));
    for (const entry of matching) entry.seen += 1;
    return matching.find(({ fault, seen }) => isDue(fault, seen))?.fault.kind;
  };
}

function matches(fault: Fault, method: string, path: string): boolean {
  if (fault.method !== '*' && fault.method !== method) return false;
  return fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : path === fault.path;
}

function isDue({ when, count }: Fault, seen: number): boolean {
  if (when === 'first') return seen <= count;
  return when === 'always' || seen % count === 0;
}
