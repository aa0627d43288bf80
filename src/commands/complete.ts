// imgctl __complete: values of this machine for the completion scripts. It asks nobody, and never complains.

import type { Context } from '../context.ts';
import { printable } from '../output/sanitize.ts';
import { readHistory } from '../session/history.ts';
import { readImageNames } from '../session/image-names.ts';

const KINDS: ReadonlyMap<string, (context: Context, prefix: string) => readonly string[]> = new Map(
  [
    ['profiles', profiles],
    ['sync-ids', syncIds],
    ['image-names', imageNames],
  ],
);

/** Each value is followed by a NUL: names may hold line breaks. The scripts quote them for their shells. */
export async function run(
  context: Context,
  _options: object,
  kind = '',
  [prefix = '']: readonly string[] = [],
): Promise<void> {
  try {
    const lowered = prefix.toLowerCase();
    const values = KINDS.get(kind)?.(context, prefix) ?? [];
    const found = [...new Set(values)].filter(
      (value) => value.toLowerCase().startsWith(lowered) && isPlainOnTerminals(value),
    );
    await context.console.print(found.map((value) => `${value}\0`).join(''));
  } catch {
    // The user is in the middle of a line: no message could help there.
  }
}

/**
 * Shells show control characters as escapes, but not the marks that reorder or hide text, and nothing of a
 * name that holds a NUL can be an argument.
 */
function isPlainOnTerminals(value: string): boolean {
  const rest = value.replace(/[\u0001-\u001f\u007f-\u009f]/g, '');
  return printable(rest) === rest;
}

function profiles({ config }: Context): readonly string[] {
  return [...config.profiles.keys()];
}

function syncIds(context: Context): readonly string[] {
  const { profile, baseUrl } = context.settings.account;
  const entries = readHistory(context.paths.state, profile, baseUrl);
  return entries.reverse().map(({ id }) => String(id));
}

/** Names, and ids where one is being typed. */
function imageNames(context: Context, prefix: string): readonly string[] {
  const names = readImageNames(context.paths.cache, context.settings.account);
  const ids = /^\d+$/.test(prefix) ? [...names.keys()].map(String) : [];
  return [...names.values(), ...ids];
}
