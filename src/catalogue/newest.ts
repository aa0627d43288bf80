// Finds the newest image of the series that match a query, or says why there is not exactly one.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError, tryOr } from '../errors.ts';
import { nameOf } from '../query/fields.ts';
import { foldCase } from '../query/patterns.ts';
import { planQuery, type QueryPlan } from '../query/plan.ts';
import { type Series, SeriesIndex } from '../query/series.ts';
import { patternOfMatch } from '../query/words.ts';
import { shellQuote } from '../words.ts';

type ImageSeries = Series<ReceivedImage>;
/** Images page by page. */
type Pages = AsyncIterable<readonly ReceivedImage[]>;

/** What selects images: words and filters as they are typed. */
export interface Selection {
  readonly words: readonly string[];
  readonly filters: readonly string[];
}

/** Reads all images that match. @param keepAll for `rankedImages` */
export async function indexSeries(pages: Pages, selection: Selection, keepAll = false) {
  const index = new SeriesIndex<ReceivedImage>(selection.words, keepAll);
  for await (const images of pages) for (const image of images) index.add(image);
  return { index, selection };
}

export type Found = Awaited<ReturnType<typeof indexSeries>>;

/** Several images, of which the user has to choose one. */
export class AmbiguousError extends ImgctlError {
  readonly choices: readonly [ReceivedImage, ...ReceivedImage[]];

  constructor(
    message: string,
    choices: AmbiguousError['choices'],
    describe: (image: ReceivedImage, index: number) => string = nameOf,
  ) {
    super('ambiguous', message, { details: listed(choices.map(describe)) });
    this.choices = choices;
  }
}

/** Returns the only newest image. @throws ImgctlError empty; AmbiguousError */
export function onlyNewest({ index }: Pick<Found, 'index'>): ReceivedImage | undefined {
  const [series, ...others] = index.series();
  if (series === undefined || others.length === 0) return series && newestOf(series);
  const choices = others.map(({ newest: [image] }) => image);
  throw new AmbiguousError(`${choices.length + 1} series match`, [series.newest[0], ...choices]);
}

/** Returns the newest image of a series. @throws AmbiguousError: it can be read in two ways, or images are equally new */
export function newestOf({ newest, pattern, matches, newestByMonth }: ImageSeries): ReceivedImage {
  const [image, ...others] = newest;
  if (matches.length > 1) {
    const [first, ...rest] = matches;
    const words = (first?.match ?? [])
      .filter(([, index], at) => matches.some(({ match }) => match[at]?.[1] !== index))
      .map(([word]) => word);
    const message = `${words.join(' and ')} matches different numbers in ${pattern}`;
    throw new AmbiguousError(message, [image, ...rest.map((each) => each.newest[0])]);
  }
  if (newestByMonth) {
    const message = `the dates in ${pattern} may start with the day or the month`;
    throw new AmbiguousError(message, [image, newestByMonth], ({ name }, index) => {
      return `${name}  (${index === 0 ? 'day' : 'month'} first)`;
    });
  }
  if (others.length === 0) return image;
  throw new AmbiguousError(`${newest.length} images are equally new`, newest, (each) => {
    return `${each.id}  ${each.path}  (${each.created_on})`;
  });
}

/**
 * Returns what selects this image and no other: more words and filters, tried on the images at hand; undefined if
 * none does.
 */
export function selectionOf(
  { index, selection: { words, filters } }: Found,
  target: ReceivedImage,
  now: number,
): Selection | undefined {
  const candidates = index.rankedImages();
  const images = candidates.map(({ image }) => image);
  const selects = (selection: Selection) => {
    const plan = planQuery(selection, { now });
    const narrower = new SeriesIndex<ReceivedImage>(selection.words);
    for (const image of images) if (plan.matches(image)) narrower.add(image);
    return tryOr(() => onlyNewest({ index: narrower })?.id === target.id, false);
  };
  const withFilters = (...more: string[]) => ({ words, filters: [...filters, ...more] });
  const chosen = candidates.find(({ image }) => image === target);
  const name = nameOf(target);
  const told = tellApart(name, images.map(nameOf));
  return [
    { words: [...words, ...told.words], filters: [...filters, ...told.filters] },
    withFilters(`name,like,${chosen ? patternOfMatch(name, chosen.match) : name}`),
    withFilters(`name=${name}`),
    withFilters(`name=${name}`, `folder=${target.folder}`),
    withFilters(`name=${name}`, `data_store=${target.data_store}`),
  ].find(selects);
}

/** Returns the fewest words of letters that a name has, or has not, and that no other name of another series agrees in. */
function tellApart(name: string, names: readonly string[]) {
  const wordsOf = (text: string) => text.match(/\p{L}{2,}/gu) ?? [];
  const own = foldCase(name);
  const others = new Map(
    names.map((each) => [foldCase(each).replace(/\d+/g, '#'), foldCase(each)]),
  );
  others.delete(own.replace(/\d+/g, '#'));
  const words: string[] = [];
  const filters: string[] = [];
  if (others.size > MAX_LISTED) return { words, filters };
  let left = [...others.values()];
  const all = new Map(
    [...names, name].flatMap((each) => wordsOf(each).map((word) => [foldCase(word), word])),
  );
  const tells = (word: string) => (each: string) => each.includes(word) !== own.includes(word);
  while (left.length > 0) {
    const [best] = [...all.keys()]
      .map((word) => ({ word, count: left.filter(tells(word)).length, isOwn: own.includes(word) }))
      .sort(
        (a, b) =>
          b.count - a.count ||
          Number(b.isOwn) - Number(a.isOwn) ||
          a.word.length - b.word.length ||
          Number(a.word > b.word) - Number(a.word < b.word),
      );
    if (best === undefined || best.count === 0) break;
    left = left.filter((each) => !tells(best.word)(each));
    const shown = all.get(best.word) ?? best.word;
    if (best.isOwn) words.push(shown);
    else filters.push(`name!~${shown}`);
  }
  return { words, filters };
}

/** Says that no image matches, or how many would if words were found anywhere. @param command lists them */
export function noMatch(
  plan: QueryPlan,
  words: readonly string[],
  command = 'imgctl images list',
): ImgctlError {
  const near = plan.nearMisses();
  if (near === undefined) {
    const phrase = words.find((word) => /\S\s+\S/.test(word));
    const all = plan.hasFilter ? `list all images with: ${command}` : undefined;
    const hint = phrase ? `to match each word separately, omit the quotes: ${phrase}` : all;
    return new ImgctlError('empty', 'no images match', { hint });
  }
  const { text, isNumber } = near.blamed;
  const names = near.count === 1 ? '1 name contains it' : `${near.count} names contain it`;
  const what = isNumber ? `no image has the number ${text}` : `no image matches ${text} as a whole`;
  return new ImgctlError('empty', `${what}; ${names}`, {
    hint: `list them with: ${commandOf(command, plan.plain)}`,
  });
}

/** Returns the command with the words and filters, quoted for a shell. */
export function commandOf(command: string, { words, filters }: Selection): string {
  const options = filters.flatMap((filter) => ['-f', filter]);
  const hasDash = words.some((word) => word.startsWith('-'));
  const all = hasDash ? [...options, '--', ...words] : [...words, ...options];
  return [command, ...all.map(shellQuote)].join(' ');
}

const MAX_LISTED = 20;

function listed(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LISTED) return lines;
  return [...lines.slice(0, MAX_LISTED), `and ${lines.length - MAX_LISTED} more`];
}
