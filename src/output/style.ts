// Colours texts for people by their role.

import type { Terminal } from './terminal.ts';

type Paint = (text: string) => string;

/** `faint` is for what matters less, such as headers, times and missing values. */
export const UNSTYLED = {
  heading: String,
  id: String,
  faint: String,
  hint: String,
  good: String,
  caution: String,
  bad: String,
};

export type Style = Readonly<Record<keyof typeof UNSTYLED, Paint>>;

export async function loadStyle({ color }: Pick<Terminal, 'color'>): Promise<Style> {
  if (!color) return UNSTYLED;
  const chalk = await import('chalk').catch(() => undefined);
  // An upgrade of imgctl has removed it meanwhile. The error that says so has to be shown.
  if (chalk === undefined) return UNSTYLED;
  // An explicit level, as chalk itself ignores NO_COLOR and --color.
  const { bold, cyan, dim, green, yellow, red } = new chalk.Chalk({ level: 1 });
  const states = { good: green, caution: yellow, bad: red };
  return { heading: bold, id: cyan, faint: dim, hint: cyan, ...states };
}

/** Words for the state of a sync, a token, a check or a change. */
const STATES = {
  good: words('ok|succeeded|valid|success|done|completed?|finished|processed|added'),
  caution: words(
    'waiting|pending|in_progress|running|processing|queued|warning|updated|moved|newer',
  ),
  bad: words(
    'failed|failure|error|expired|rejected|aborted|cancell?ed|gone|replaced|removed|\\d+ errors?',
  ),
  faint: words('none|not checked'),
};

function words(alternatives: string): RegExp {
  return new RegExp(`^(?:${alternatives})$`, 'i');
}

export function stateStyle(word: string, style: Style): Paint {
  for (const state of Object.keys(STATES) as (keyof typeof STATES)[]) {
    if (STATES[state].test(word)) return style[state];
  }
  return String;
}
