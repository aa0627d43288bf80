// Decides what a stream can show: colour, movement, its width and Unicode.

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

/** A narrower terminal shows records if not all columns of a table fit. */
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
  if (characterSet !== undefined) {
    return ['utf-8', 'utf8'].includes(characterSet.toLowerCase());
  }
  return locale !== 'C' && locale !== 'POSIX';
}
