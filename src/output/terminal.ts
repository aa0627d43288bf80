// Decides what a stream can show (colour, movement, width), and colours every text for people.

import type { Io, Sink } from '../io.ts';

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

export interface Terminal {
  readonly color: boolean;
  /** Cells per line; undefined if lines are never cut. */
  readonly width: number | undefined;
  /** True if a line may be redrawn, as a spinner does. */
  readonly interactive: boolean;
  readonly unicode: boolean;
}

/** Cells of a terminal that has room for a table: narrower tables become records. */
export const MIN_TABLE_WIDTH = 40;

/** For colour, --color counts before NO_COLOR, FORCE_COLOR and TERM=dumb. Empty means unset. */
export function decideTerminal(sink: Sink, env: Io['env'], color: ColorChoice = 'auto'): Terminal {
  const dumb = env.TERM === 'dumb';
  const width = sink.isTTY && Number(sink.columns) > 0 ? sink.columns : undefined;
  return {
    color: color === 'auto' ? wantsColor(sink, env, dumb) : color === 'always',
    width,
    interactive: width !== undefined && !dumb,
    unicode: supportsUnicode(env),
  };
}

function wantsColor(sink: Sink, env: Io['env'], dumb: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR);
  return sink.isTTY && !dumb;
}

/** Checks the locale's character set; without one, only C and POSIX mean ASCII. */
function supportsUnicode(env: Io['env']): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const characterSet = /\.([^@]*)/.exec(locale)?.[1];
  if (characterSet !== undefined) return /^utf-?8$/i.test(characterSet);
  return locale !== 'C' && locale !== 'POSIX';
}

type Paint = (text: string) => string;

/** `faint` is for headers, times and missing values. */
type Role = 'heading' | 'id' | 'faint' | 'hint' | 'good' | 'waiting' | 'bad';
export type Style = Readonly<Record<Role, Paint>>;

export const UNSTYLED: Style = {
  heading: String,
  id: String,
  faint: String,
  hint: String,
  good: String,
  waiting: String,
  bad: String,
};

export async function loadStyle({ color }: Pick<Terminal, 'color'>): Promise<Style> {
  if (!color) return UNSTYLED;
  const { Chalk } = await import('chalk');
  // An explicit level, as chalk itself ignores NO_COLOR and --color.
  const { bold, cyan, dim, green, yellow, red } = new Chalk({ level: 1 });
  const states = { good: green, waiting: yellow, bad: red };
  return { heading: bold, id: cyan, faint: dim, hint: cyan, ...states };
}

/** Words for the state of a sync, a token, a check or a change. */
const STATES = {
  good: /^(ok|succeeded|valid|success|done|completed?|finished|processed|added)$/i,
  waiting: /^(waiting|pending|in_progress|running|processing|queued|warning|updated|moved|newer)$/i,
  bad: /^(failed|failure|error|expired|rejected|aborted|cancell?ed|gone|replaced|removed|\d+ errors?)$/i,
  faint: /^(-|none|not checked)$/i,
};

export function stateStyle(word: string, style: Style): Paint {
  for (const state of Object.keys(STATES) as (keyof typeof STATES)[]) {
    if (STATES[state].test(word)) return style[state];
  }
  return String;
}
