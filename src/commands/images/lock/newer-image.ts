// Which images are newer than a locked one. `lock check` compares within the series of the locked
// image; `lock update` takes what `images latest` would show, so it may fail as ambiguous where
// `lock check` says ok.

import type { ReceivedImage } from '../../../api/types.ts';
import type { Context } from '../../../context.ts';
import { contains } from '../../../query/filter.ts';
import { readName } from '../../../query/name.ts';
import { Query } from '../../../query/query.ts';
import { SeriesIndex } from '../../../query/series.ts';
import { Tally } from '../../../query/tally.ts';
import { parseWord } from '../../../query/word.ts';
import type { LockedImage } from './lock-format.ts';
import { queryOf } from './lock-query.ts';

/** Finds the images that may be newer than a locked one. */
export interface LockSearch {
  /** The name of the lock. */
  readonly name: string;
  readonly image: LockedImage;
  /** The words and filters of the lock: an image that is newer matches them. */
  readonly conditions: Query;
  /** What is read: more images than needed. */
  readonly query: Query;
  readonly tally: Tally;
  /** What was read, as the catalogue has it. */
  readonly found: readonly ReceivedImage[];
  readonly add: (image: ReceivedImage) => void;
}

/**
 * Returns a search for the images of a series. The service takes only one filter: the longest word,
 * which is in the fewest names, such as `server` of ubuntu-22.04-server.ova.
 */
export function searchFor(context: Context, name: string, image: LockedImage): LockSearch {
  const conditions = queryOf(context, name, image);
  const words = readName(image.name ?? '').seriesKey.match(/[^ #]+/g) ?? [];
  const [longest = ''] = words.toSorted((one, other) => other.length - one.length);
  // Without the words of the lock, which the locked image may no longer match.
  const query = new Query({ filters: [contains('name', longest), ...conditions.filters] });
  const found: ReceivedImage[] = [];
  const add = (each: ReceivedImage) => void found.push(each);
  return { name, image, conditions, query, tally: new Tally(query), found, add };
}

/**
 * Returns the newest image of the series, or several equally new ones; none without a name. For the
 * words `ubuntu 22.04` and the image ubuntu-22.04-server-20240101.ova it is
 * ubuntu-22.04-server-20240301.ova, but not ubuntu-24.04-server-20240301.ova.
 */
export function newestOfSeries(search: LockSearch): readonly ReceivedImage[] {
  const { image: locked, conditions, found } = search;
  // The words say which versions are compared, unless somebody has edited them.
  const index = new SeriesIndex<ReceivedImage>(matchesOwnWords(locked) ? locked.text : []);
  for (const image of found) if (conditions.matches(image)) index.add(image);
  // Even if it is gone or the filters hide it: an older image must not seem newer.
  index.add(locked);
  return index.newestLike(locked);
}

/** False if somebody has edited the words, or an older imgctl matched them otherwise. */
export function matchesOwnWords({ text, name }: LockedImage): boolean {
  return text.every((word) => parseWord(word).matches(`${name}`));
}
