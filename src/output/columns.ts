// Names of columns, as users choose them.

import { parseChoice } from '../choices.ts';

/** Parses names of columns, separated by commas, or `all`, which are these. @throws ImgctlError usage */
export function parseColumns<Name extends string>(
  text: string,
  where: string,
  valid: readonly Name[],
  all: readonly Name[] = valid,
): readonly Name[] {
  if (text.trim().toLowerCase() === 'all') return all;
  return text.split(',').map((name) => {
    return parseChoice(name.trim(), { noun: 'field', valid, where: `${where} '${text}'` });
  });
}
