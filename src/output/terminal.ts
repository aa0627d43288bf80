// The one place that decides about colour, width and movement, for every stream and every library.

import type { Sink } from '../io.ts';

export const COLOR_CHOICES = ['auto', 'always', 'never'] as const;
export type ColorChoice = (typeof COLOR_CHOICES)[number];

export interface Terminal {
  readonly color: boolean;
  /** Cells a line may take; undefined: lines are never cut. */
  readonly width: number | undefined;
  /** Something that moves, such as a spinner, may be shown. */
  readonly interactive: boolean;
  /** Our own signs, such as `…`, need not be ASCII. */
  readonly unicode: boolean;
}

/**
 * What a stream can show. `--color` beats the environment, NO_COLOR beats FORCE_COLOR, and both beat
 * TERM=dumb; an empty variable counts as unset. A terminal of 0 or unknown columns has no width.
 */
export function decideTerminal(
  sink: Sink,
  env: Readonly<Record<string, string | undefined>>,
  color: ColorChoice,
): Terminal {
  const dumb = env.TERM === 'dumb';
  const width = sink.isTTY && Number(sink.columns) > 0 ? sink.columns : undefined;
  return {
    color: color === 'auto' ? wantsColor(sink, env, dumb) : color === 'always',
    width,
    interactive: width !== undefined && !dumb,
    unicode: showsUnicode(env),
  };
}

/** What stands out in a table. Chalk is not even loaded where there is no colour. */
export async function loadBold(terminal: Terminal): Promise<(text: string) => string> {
  if (!terminal.color) return String;
  const { Chalk } = await import('chalk');
  // Told the level: by itself chalk heeds neither NO_COLOR nor --color.
  return new Chalk({ level: 1 }).bold;
}

function wantsColor(
  sink: Sink,
  env: Readonly<Record<string, string | undefined>>,
  dumb: boolean,
): boolean {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return !['0', 'false'].includes(env.FORCE_COLOR);
  return sink.isTTY && !dumb;
}

/** The locale's character set; where the locale names none, only C and POSIX mean ASCII. */
function showsUnicode(env: Readonly<Record<string, string | undefined>>): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  const characterSet = /\.([^@]*)/.exec(locale)?.[1];
  if (characterSet !== undefined) return /^utf-?8$/i.test(characterSet);
  return locale !== 'C' && locale !== 'POSIX';
}
