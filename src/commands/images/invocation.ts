// Commands that hints suggest for images: they read the same images, for the same query.

import type { Context } from '../../context.ts';
import { type Invocation, imgctl } from '../../facts.ts';
import type { OutputOptions } from '../../output/output.ts';
import type { Filter } from '../../query/filter.ts';
import type { CatalogueOptions } from './options.ts';

/** Returns a command that reads the same images: your own, the snapshot's, or the service's. */
export function reading({ from, mine }: CatalogueOptions, ...words: string[]): Invocation {
  if (mine && words.at(-1) === 'list') return imgctl('my-images');
  if (mine) return imgctl(...words, '--mine');
  return imgctl(...words, ...(from === undefined ? [] : ['--from', from]));
}

/** Returns such a command that also prints in the same way. */
export function asGiven(
  context: Context,
  options: CatalogueOptions & Pick<OutputOptions, 'get' | 'columns'>,
  ...words: string[]
): Invocation {
  const { get, columns = [] } = options;
  const shown = get === undefined ? columns.flatMap((each) => ['-c', each]) : ['--get', get];
  return imgctl(...reading(options, ...words).imgctl, ...shown, ...formatOptions(context));
}

function formatOptions({ given, givenFormat }: Context): string[] {
  const output = given.get('output');
  if (output === undefined) return [];
  return output.origin === '--json' ? ['--json'] : ['-o', givenFormat];
}

/** Returns the command with the words and filters of a query. */
export function selecting(
  { imgctl: command }: Invocation,
  { words, filters }: { readonly words: readonly string[]; readonly filters: readonly Filter[] },
): Invocation {
  const options = filters.flatMap(({ text }) => ['-f', text]);
  const hasDash = words.some((word) => word.startsWith('-'));
  return imgctl(...command, ...(hasDash ? [...options, '--', ...words] : [...words, ...options]));
}
