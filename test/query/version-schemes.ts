// Ways in which publishers write versions; each makes versions whose order is known.

/** From 0 up to 1. */
export type Random = () => number;

export interface Scheme {
  /** A version, or several that show the order. */
  readonly name: string;
  /** Returns up to `count` different versions, the oldest first. */
  make(random: Random, count: number): string[];
}

/** Returns a repeatable source of numbers. */
export function seeded(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
  };
}

type Write = (a: number, b: number, c: number, d: number, random: Random) => string;

/** A scheme with one part for each size, from 0 up to the size: the first part decides the order, then the second. */
function scheme(name: string, sizes: readonly number[], write: Write): Scheme {
  const make = (random: Random, count: number) => {
    const draw = (size: number) => Math.floor(random() * size);
    // Some parts are the same in all, so that the others often decide.
    const fixed = sizes.slice(0, -1).map((size) => (random() < 0.4 ? draw(size) : undefined));
    const drawn = Array.from({ length: 3 * count }, () =>
      sizes.map((size, index) => fixed[index] ?? draw(size)),
    );
    const some = [...new Map(drawn.map((parts) => [parts.join(), parts])).values()].slice(0, count);
    some.sort((left, right) => {
      const at = left.findIndex((part, index) => part !== right[index]);
      return (left[at] ?? 0) - (right[at] ?? 0);
    });
    const texts = some.map(([a = 0, b = 0, c = 0, d = 0]) => write(a, b, c, d, random));
    return [...new Set(texts)];
  };
  return { name, make };
}

/** A scheme of dates, with `builds` on each day. */
function dates(
  name: string,
  write: (day: { D: string; M: string; Y: string }, build: number, random: Random) => string,
  builds = 1,
): Scheme {
  return scheme(name, builds === 1 ? [2000] : [2000, builds], (days, build, _c, _d, random) => {
    const [Y = '', M = '', D = ''] = new Date(Date.UTC(2019, 6, 1 + days))
      .toISOString()
      .slice(0, 10)
      .split('-');
    return write({ Y, M, D }, build, random);
  });
}

const pad = (value: number, length = 2) => String(value).padStart(length, '0');
/** Returns the part with its prefix, or nothing for 0. */
const part = (prefix: string, value: number) => (value === 0 ? '' : `${prefix}${value}`);
/** Returns the separator or nothing, as people write one version. */
const maybe = (separator: string, random: Random) => (random() < 0.5 ? separator : '');
const letter = (value: number) => (value === 0 ? '' : String.fromCharCode(96 + value));
const hash = (random: Random) =>
  Math.floor(random() * 16 ** 7)
    .toString(16)
    .padStart(7, '0');
/** Returns 3 for 03: as people write days and months. */
const short = (digits: string) => digits.replace(/^0/, '');

export const SCHEMES: readonly Scheme[] = [
  scheme('1.2.3', [3, 12, 12], (a, b, c) => `${a}.${b}.${c}`),
  scheme('v1.2.3', [3, 12, 12], (a, b, c) => `v${a}.${b}.${c}`),
  scheme('1.2', [12, 12], (a, b) => `${a}.${b}`),
  scheme('1.2 < 1.2.1', [3, 3, 12], (a, b, c) => `${a}.${b}${part('.', c)}`),
  scheme('24.04 < 24.04.3', [8, 2, 6], (a, b, c) => `${18 + a}.${b ? 10 : '04'}${part('.', c)}`),
  scheme('1.2.3-rc.1 < 1.2.3', [2, 3, 3, 12], (a, b, c, d) => {
    return `${a}.${b}.${c}${d < 11 ? `-rc.${d + 1}` : ''}`;
  }),
  scheme('1.2rc1 < 1.2-rc2 < 1.2', [3, 12, 4], (a, b, c, _d, random) => {
    return `${a}.${b}${c < 3 ? `${maybe('-', random)}rc${c + 1}` : ''}`;
  }),
  scheme('1.2-alpha.1 < beta.1 < rc.1 < 1.2', [3, 3, 4, 12], (a, b, c, d) => {
    return `${a}.${b}${c < 3 ? `-${['alpha', 'beta', 'rc'][c]}.${d + 1}` : ''}`;
  }),
  scheme('14.1-BETA3 < RC1 < RELEASE', [3, 4, 3, 5], (a, b, c, d) => {
    return `${12 + a}.${b}-${c < 2 ? `${['BETA', 'RC'][c]}${d + 1}` : 'RELEASE'}`;
  }),
  scheme(
    '2.4.4-RELEASE < RELEASE-p3',
    [2, 6, 4],
    (a, b, c) => `2.${a}.${b}-RELEASE${part('-p', c)}`,
  ),
  scheme('7.0 < 7.0-U3 < 7.0U3c', [3, 2, 4, 6], (a, b, c, d, random) => {
    return `${6 + a}.${b}${part(`${maybe('-', random)}U`, c)}${c === 0 ? '' : letter(d)}`;
  }),
  scheme(
    '17.03.08 < 17.03.08a',
    [3, 12, 9, 3],
    (a, b, c, d) => `${15 + a}.${pad(b)}.${pad(c)}${letter(d)}`,
  ),
  scheme(
    '13.0-U5.3 < 13.0-U6',
    [3, 3, 6, 4],
    (a, b, c, d) => `${11 + a}.${b}-U${c + 1}${part('.', d)}`,
  ),
  scheme(
    '20.4R3 < 20.4R3-S2',
    [6, 4, 3, 12],
    (a, b, c, d) => `${18 + a}.${b + 1}R${c + 1}${part('-S', d)}`,
  ),
  scheme('12 < 12_SP1 < 12SP2 < 15', [4, 7], (a, b, _c, _d, random) => {
    return `${11 + a}${part(`${maybe('_', random)}SP`, b)}`;
  }),
  scheme('10.2.3 < 10.2.3-h4', [3, 3, 4, 12], (a, b, c, d) => `${9 + a}.${b}.${c}${part('-h', d)}`),
  scheme('16.1.4-0.0.22 < 16.1.4.1-0.0.5', [3, 3, 4, 5], (a, b, c, d, random) => {
    return `${14 + a}.${b}.${c}${part('.', d)}-0.0.${Math.floor(random() * 40)}`;
  }),
  scheme(
    '9-12-2 < 9-12-2-9',
    [2, 12, 5, 12],
    (a, b, c, d) => `${8 + a}-${b + 1}-${c + 1}${part('-', d)}`,
  ),
  scheme(
    'v7.4.3-build0573',
    [3, 3, 6, 900],
    (a, b, c, d) => `v${6 + a}.${b}.${c}-build${pad(d, 4)}`,
  ),
  scheme('98 < 1034', [4, 9, 10], (a, b, c) => `${(10 * (b + 1) + c) * 10 ** a}`),
  scheme('0007 < 0123', [1500], (a) => pad(a, 4)),
  scheme('2204-kube-v1.28.3', [3, 12, 12], (a, b, c) => `${20 + 2 * a}04-kube-v1.${18 + b}.${c}`),
  scheme(
    '1.27.5+vmware.1-tkg.2',
    [12, 9, 2, 3],
    (a, b, c, d) => `v1.${18 + a}.${b}+vmware.${c + 1}-tkg.${d + 1}`,
  ),
  scheme('2.4.0 < 2.4.0-12-g3f2a1bc', [2, 4, 4, 30], (a, b, c, d, random) => {
    return `${a}.${b}.${c}${d === 0 ? '' : `-${d}-g${hash(random)}`}`;
  }),
  scheme('19.03.173251.56d94c8', [6, 2, 4000], (a, b, c, _d, random) => {
    return `${19 + a}.${b ? '09' : '03'}.${c}.${hash(random)}`;
  }),
  scheme('8.10-20240131', [2, 11, 2000], (a, b, c) => {
    return `${8 + a}.${b}-${new Date(Date.UTC(2019, 6, 1 + c)).toISOString().slice(0, 10).replaceAll('-', '')}`;
  }),
  scheme('21H2', [12, 2], (a, b) => `${14 + a}H${b + 1}`),
  dates('20240131', ({ D, M, Y }) => `${Y}${M}${D}`),
  dates('2024-01-31', ({ D, M, Y }) => `${Y}-${M}-${D}`),
  dates('2024.01.31', ({ D, M, Y }) => `${Y}.${M}.${D}`),
  dates('240131', ({ D, M, Y }) => `${Y.slice(2)}${M}${D}`),
  dates('20240131.2', ({ D, M, Y }, build) => `${Y}${M}${D}.${build}`, 12),
  dates('20240131-1993', ({ D, M, Y }, build) => `${Y}${M}${D}-${1990 + build}`, 30),
  dates('20240131-c0ffee1', ({ D, M, Y }, _build, random) => `${Y}${M}${D}-${hash(random)}`),
  dates('31.1.2024', ({ D, M, Y }) => `${short(D)}.${short(M)}.${Y}`),
  dates('31.01.2024', ({ D, M, Y }) => `${D}.${M}.${Y}`),
  dates('31-01-2024', ({ D, M, Y }) => `${D}-${M}-${Y}`),
  dates('01-31-2024', ({ D, M, Y }) => `${M}-${D}-${Y}`),
  dates('1_31_2024', ({ D, M, Y }) => `${short(M)}_${short(D)}_${Y}`),
  dates('31012024', ({ D, M, Y }) => `${D}${M}${Y}`),
  dates('31.01.24', ({ D, M, Y }) => `${D}.${M}.${Y.slice(2)}`),
  scheme('1-2024', [6, 12], (a, b) => `${b + 1}-${2019 + a}`),
];
