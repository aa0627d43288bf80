// Changes a JSON text in one place: another type, a hostile value, a missing or a further member.

import type { Random } from './random.ts';

export interface Origins {
  /** The service's own origin. */
  readonly own: string;
  /** A server that must get no request. */
  readonly foreign: string;
}

/** Texts that move a terminal, reorder a line, break a format or look like another type. */
export const HOSTILE_TEXTS: readonly string[] = [
  ...['', ' ', 'a\nb\r\nimgctl: forged', '\u001b[2J\u001b]0;title\u0007', '\u009b31m\u0085'],
  ...['a\u202eb\u2066c\u200f', '\u0000', '\ud800', 'x\udc00y', '\u2028\u2029', '=1+1'],
  ...['"quoted", and; \'more\'', '__proto__', '../../../etc/passwd'],
  ...['2018-07-18 Wed 15:36:49 EDT', '9999-99-99 Xxx 99:99:99 ZZZ', '2018-07-18 Wed 15:36:49 XYZT'],
  ...['PROCESSED', 'processed ', 'ERROR', 'CANCELLED', 'null', '日本語 🖥️ e\u0301'],
  'x'.repeat(20_000),
];

/** JSON that JSON.stringify does not write: deep nesting, huge numbers, special and duplicate names. */
const RAW: readonly string[] = [
  ...['1e400', '-1e400', '9007199254740993', '-9007199254740993', `1${'0'.repeat(400)}`],
  ...['0.1e-400', '-0'],
  '{"__proto__":{"id":1,"name":"x"}}',
  '{"__proto__":null}',
  '{"toString":1,"valueOf":null,"constructor":{"prototype":{}}}',
  '{"toJSON":"x","then":"y","length":-1}',
  '{"id":1,"id":2,"name":"a","name":null}',
  `${'['.repeat(200)}${']'.repeat(200)}`,
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`,
];

const PLAIN: readonly unknown[] = [
  ...[null, true, false, 0, 1, -1, 2, 1.5, 100, 1e9, 2 ** 53 - 1, Number.MAX_VALUE, '1', '0'],
  ...[[], {}, [[]], [null], [1, 'a', {}], { data: [] }, { id: 1 }, { message: 'inner' }],
];

const ODD_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'id', 'data', ''];

type Holder = Record<string, unknown>;

/** Returns the text with one change, or unchanged if it is not JSON. */
export function mutateJson(text: string, random: Random, origins: Origins): string {
  let root: Holder;
  try {
    root = { root: JSON.parse(text) };
  } catch {
    return text;
  }
  const raw: string[] = [];
  const value = (): unknown => {
    if (random.chance(0.25)) {
      raw.push(random.pick(RAW));
      return `\u0001${raw.length - 1}`;
    }
    if (random.chance(0.2)) return urlOf(random, origins);
    return random.chance(0.5) ? random.pick(HOSTILE_TEXTS) : random.pick(PLAIN);
  };
  change(random, root, value);
  return stringify(root.root ?? null, text).replace(
    /"\\u0001(\d+)"/g,
    (_, index) => raw[Number(index)] ?? '',
  );
}

/** Returns the JSON, or the original text if it is nested too deep. */
function stringify(value: unknown, otherwise: string): string {
  try {
    return JSON.stringify(value);
  } catch {
    return otherwise;
  }
}

function urlOf(random: Random, { own, foreign }: Origins): string {
  const path = random.pick([
    '/v2/image?page=1',
    '/v2/image?page=2&per_page=10',
    `/v2/image?page=${random.below(1e9)}`,
    '/v2/request/image_sync/1',
    '/x/..%2f..%2f',
    '?page=2',
  ]);
  return random.pick([
    `${own}${path}`,
    `${foreign}${path}`,
    foreign.replace('//', '//own@'),
    path,
    `//${new URL(foreign).host}${path}`,
    'javascript:alert(1)',
    'http://[',
    'file:///etc/passwd',
  ]);
}

const AT_ROOT = ['in a list', 'in data', 'another value', 'another value'] as const;
const ANYWHERE = [
  ...AT_ROOT,
  ...(['too few', 'too many', 'elsewhere', 'another value', 'another value'] as const),
] as const;

function change(random: Random, root: Holder, value: () => unknown): void {
  const places = placesIn(root);
  // Half of all changes hit the envelope, since most places are fields of images.
  const near = places.filter(({ depth }) => depth <= 3);
  const { holder, name } = random.pick(random.chance(0.5) ? near : places);
  const old = holder[name];
  const inList = Array.isArray(holder);
  switch (random.pick(holder === root ? AT_ROOT : ANYWHERE)) {
    case 'in a list':
      holder[name] = [old];
      return;
    case 'in data':
      holder[name] = { data: old };
      return;
    case 'too few':
      if (inList) holder.splice(Number(name), 1);
      else delete holder[name];
      return;
    case 'too many':
      if (inList) holder.push(...Array(random.pick([1, 50])).fill(old));
      else define(holder, random.pick(ODD_NAMES), value());
      return;
    case 'elsewhere':
      if (inList) holder.reverse();
      else define(holder, random.pick(ODD_NAMES), old);
      return;
    case 'another value':
      holder[name] = value();
  }
}

/** Sets a member, even one named `__proto__`. */
function define(holder: Holder, name: string, value: unknown): void {
  Object.defineProperty(holder, name, {
    value,
    enumerable: true,
    writable: true,
    configurable: true,
  });
}

/** Deeper than any record of the service. */
const MAX_DEPTH = 10;

function placesIn(holder: Holder, depth = 0): { holder: Holder; name: string; depth: number }[] {
  return Object.keys(holder).flatMap((name) => {
    const value = holder[name];
    const isHolder = typeof value === 'object' && value !== null && depth < MAX_DEPTH;
    const below = isHolder ? placesIn(value as Holder, depth + 1) : [];
    return [{ holder, name, depth }, ...below];
  });
}
