// Decides what a stream can show: colour, movement, width.

import type { Sink } from '../io.ts';

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

type Environment = Readonly<Record<string, string | undefined>>;

export interface Terminal {
  readonly color: boolean;
  /** Cells per line; undefined if lines are never cut. */
  readonly width: number | undefined;
  /** True if a line may be redrawn, as a spinner does. */
  readonly interactive: boolean;
  readonly unicode: boolean;
}

/** `--color` beats NO_COLOR, which beats FORCE_COLOR, which beats TERM=dumb; an empty variable is unset. */
export function decideTerminal(sink: Sink, env: Environment, color: ColorChoice): Terminal {
  const dumb = env.TERM === 'dumb';
  const width = sink.isTTY && Number(sink.columns) > 0 ? sink.columns : undefined;
  return {
    color: color === 'auto' ? wantsColor(sink, env, dumb) : color === 'always',
    width,
    interactive: width !== undefined && !dumb,
    unicode: supportsUnicode(env),
  };
}

function wantsColor(sink: Sink, env: Environment, dumb: boolean): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR);
  return sink.isTTY && !dumb;
}

/** Checks the locale's character set; without one, only C and POSIX mean ASCII. */
function supportsUnicode(env: Environment): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const characterSet = /\.([^@]*)/.exec(locale)?.[1];
  if (characterSet !== undefined) return /^utf-?8$/i.test(characterSet);
  return locale !== 'C' && locale !== 'POSIX';
}
