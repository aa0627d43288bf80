// Commands that hints suggest for images: they read the same images, for the same query.

import type { Context } from '../../context.ts';
import { type Invocation, imgctl } from '../../facts.ts';
import type { OutputOptions } from '../../output/output.ts';
import type { Query } from '../../query/query.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../query/timestamp.ts';
import { shellQuote } from '../../words.ts';
import type { CatalogueOptions } from './options.ts';

/** Returns a command that reads the same images: your own, the snapshot's, or the service's. */
function withSource(options: CatalogueOptions, ...words: string[]): Invocation {
  return imgctl(...words, ...(options.mine ? ['--mine'] : snapshotOptions(options)));
}

/** Returns `--from FILE --max-age 7d`, as far as they were given. */
export function snapshotOptions({ from, maxAge }: CatalogueOptions): string[] {
  if (from === undefined) return [];
  if (maxAge === undefined) return ['--from', from];
  const [unit, length] = UNITS.find((each) => maxAge % each[1] === 0) ?? (['ms', 1] as const);
  return ['--from', from, '--max-age', `${maxAge / length}${unit}`];
}

const UNITS = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', SECOND],
] as const;

/** Returns the command that lists the same images. */
export function listCommand(options: CatalogueOptions): Invocation {
  return options.mine ? imgctl('my-images') : withSource(options, 'images', 'list');
}

/** Returns a command that reads the same images and prints in the same way. */
export function withSourceAndOutput(
  context: Context,
  options: CatalogueOptions & Pick<OutputOptions, 'get' | 'columns'>,
  ...words: string[]
): Invocation {
  const { get, columns = [] } = options;
  const shown = get === undefined ? columns.flatMap((each) => ['-c', each]) : ['--get', get];
  return imgctl(...withSource(options, ...words).imgctl, ...shown, ...formatOptions(context));
}

function formatOptions({ given, givenFormat }: Context): string[] {
  const output = given.get('output');
  if (output === undefined) return [];
  return output.origin === '--json' ? ['--json'] : ['-o', givenFormat];
}

type Conditions = Pick<Query, 'words' | 'filters'>;

/** Returns the command with the words and filters of a query. */
export function withQuery({ imgctl: command }: Invocation, query: Conditions): Invocation {
  return imgctl(...command, ...argumentsOf(query));
}

/** Returns `ubuntu -f name~server`, as it can be typed. */
export function describeQuery(query: Conditions): string {
  return argumentsOf(query).map(shellQuote).join(' ');
}

function argumentsOf({ words, filters }: Conditions): string[] {
  const options = filters.flatMap(({ text }) => ['-f', text]);
  const hasDash = words.some((word) => word.startsWith('-'));
  return hasDash ? [...options, '--', ...words] : [...words, ...options];
}
