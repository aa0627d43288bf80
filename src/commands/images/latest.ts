// imgctl images latest: shows the newest image of one series or of each.

import { numericId } from '../../api/images.ts';
import type { ReceivedImage } from '../../api/types.ts';
import { command, option, type Parsed, SERVICE_CODES } from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { type Facts, hint, type Invocation, imgctl } from '../../facts.ts';
import { column, pick } from '../../output/columns.ts';
import { ask } from '../../output/prompt.ts';
import { printable } from '../../output/text.ts';
import { nameOf } from '../../query/fields.ts';
import { readName } from '../../query/name.ts';
import {
  type AmbiguousError,
  describeChoices,
  findNewest,
  MAX_LISTED,
  type NewestCollector,
  newestCollector,
  newestOfEach,
  selectionOf,
  withoutAmbiguous,
} from '../../query/newest.ts';
import type { RankedImage } from '../../query/series.ts';
import { parseWord } from '../../query/word.ts';
import { isDigits } from '../../words.ts';
import { noMatchError } from './empty.ts';
import { withQuery, withSourceAndOutput } from './invocation.ts';
import {
  CATALOGUE_OPTIONS,
  CHOOSING_FILTER,
  IMAGE_COLUMNS,
  MINE_OPTION,
  readQuery,
  SHOWN_FIELDS,
  VIEW_OPTIONS,
  WORDS,
} from './options.ts';
import { openCatalogue, readTogether } from './read.ts';

const CANDIDATE_COLUMNS = [
  column('series', 'string', 'the name with # for its versions', { needs: '--explain' }),
  column('rank', 'number', '1 for the newest of its series', { needs: '--explain' }),
  column('version', 'string or null', 'the versions of the name', {
    needs: '--explain, -c or --get',
  }),
];

const EXPLAINED = [
  ...CANDIDATE_COLUMNS,
  ...pick(IMAGE_COLUMNS, 'id', 'name', 'path', 'created_on'),
];

const OPTIONS = [
  CHOOSING_FILTER,
  option('--each', 'show the newest image of every series'),
  option('--explain', 'show all candidates with series and version, newest first', {
    conflicts: ['each', 'get', 'columns'],
  }),
  ...VIEW_OPTIONS,
  ...CATALOGUE_OPTIONS,
  MINE_OPTION,
] as const;

type Options = Parsed<typeof OPTIONS>;

export const imagesLatest = command({
  name: 'latest',
  summary: 'show the newest image of a series',
  description: [
    'Names with the same words form a series. Their versions decide which image is newer, not the update time: 8.10 is newer than 8.9. Exits with 5 if nothing matches.',
    'If several series match, or the names do not tell which image is the newest, you are asked to choose. With more than 20 candidates, or without a terminal, lists them with a command that selects the first, and exits with 2.',
    'With --each, prints the newest image of every series. If it is uncertain for some, exits with 2 and shows how to leave them out.',
  ],
  examples: [
    'imgctl images latest ubuntu server',
    'imgctl images latest ubuntu 22.04 server --get path',
    'imgctl images latest debian --each',
    'imgctl images latest rocky GenericCloud-Base --explain',
  ],
  seeAlso: ['images list', 'images get', 'images lock', 'help choosing'],
  arguments: [{ ...WORDS, description: 'consider only images whose name matches every word' }],
  options: OPTIONS,
  fields: [...IMAGE_COLUMNS.filter(({ name }) => name !== 'version'), ...CANDIDATE_COLUMNS],
  exitCodes: SERVICE_CODES,
  run,
});

async function run(context: Context, options: Options, words: readonly string[]): Promise<Result> {
  const query = readQuery(words, options, context.io.now());
  const { explain, each } = options;
  const lineColumns = ['series', 'rank', 'version', 'id', 'name', 'created_on'];
  const shown = ['rank', 'version', 'id', 'created_on'];
  const output = explain
    ? context.output(EXPLAINED, { ...options, shown, lineColumns, groupBy: 'series' })
    : context.output(IMAGE_COLUMNS, { ...options, shown: SHOWN_FIELDS });
  const catalogue = await openCatalogue(context, options);
  const found = newestCollector(query);
  await readTogether(context, catalogue, [found]);
  if ((explain || each) && found.index.isEmpty) throw noMatchError(found);
  if (explain) return { output, rows: found.index.rankedImages().map(candidateRow) };
  if (each) return { output, ...newestOfAll(context, options, found) };
  const { image, command } = await chooseNewest(context, options, found);
  const afterwards = () => {
    if (command) context.console.note(context.hintOf(hint`to skip the prompt: ${command}`));
  };
  return { output, rows: [image], isOne: true, afterwards };
}

function candidateRow({ image, pattern, rank }: RankedImage<ReceivedImage>) {
  const { id = null, name, path = null, created_on = null } = image;
  const version = readName(nameOf(image)).versionText || null;
  return { series: pattern, rank, version, id, name, path, created_on };
}

/** Returns the newest images, and an error with a command that leaves out the ambiguous series. */
function newestOfAll(context: Context, options: Options, found: NewestCollector) {
  const { images, error } = newestOfEach(found);
  if (!error || images.length === 0) return { rows: images, error };
  const certain = withoutAmbiguous(found);
  const added = certain.filters.length - found.query.filters.length;
  // Nobody reads a longer command.
  if (added > MAX_LISTED) return { rows: images, error };
  const all = withSourceAndOutput(context, options, 'images', 'latest', '--each');
  const facts = hint`leave them out with: ${withQuery(all, certain)}`;
  return { rows: images, error: error.with({ facts }) };
}

interface Chosen {
  readonly image: ReceivedImage;
  /** Selects the image without a prompt; undefined if nobody was asked, or nothing selects it. */
  readonly command?: Invocation | undefined;
}

/**
 * Returns the newest image, or the one that a user chooses of several.
 * @throws ImgctlError ambiguous: nobody can be asked; usage: no choice
 */
async function chooseNewest(
  context: Context,
  options: Options,
  found: NewestCollector,
): Promise<Chosen> {
  const newest = findNewest(found);
  if (newest.kind === 'none') throw noMatchError(found);
  if (newest.kind === 'one') return { image: newest.image };
  const { error } = newest;
  const { choices } = error;
  const latest = withSourceAndOutput(context, options, 'images', 'latest');
  const get = withSourceAndOutput(context, options, 'images', 'get');
  const commandFor = (image: ReceivedImage) => {
    const selection = selectionOf(found, image);
    if (selection) return withQuery(latest, selection);
    const id = numericId(image);
    return id === undefined ? undefined : imgctl(...get.imgctl, `${id}`);
  };
  const first = commandFor(choices[0]);
  const select = first && hint`select the first with: ${first}`;
  const canChoose = choices.length > 1 && choices.length <= MAX_LISTED;
  if (!canChoose || !mayAsk(context, options)) throw error.with({ facts: select });
  await context.console.flush();
  const chosen = await choose(context, error.message, choices, select);
  return { image: chosen, command: commandFor(chosen) };
}

/** True if a person reads what is printed and can answer. */
function mayAsk({ io, format, quiet }: Context, { get }: Options): boolean {
  const isForPeople = format === 'table' || get !== undefined;
  const isTerminal = [io.stdin, io.stdout, io.stderr].every(({ isTTY }) => isTTY);
  return isForPeople && isTerminal && !quiet && !io.env.CI;
}

/** Wrong answers in a row. */
const MAX_TRIES = 3;

/**
 * Asks for a number. A word narrows the list: after `rocky`, the two images that match it are 1 and
 * 2. Any other answer is wrong, and lists the same again.
 * @throws ImgctlError usage: too many wrong answers
 */
async function choose(
  { io }: Context,
  message: string,
  choices: AmbiguousError['choices'],
  otherwise: Facts | undefined,
): Promise<ReceivedImage> {
  const lines = describeChoices(choices);
  let left: readonly Choice[] = choices.map((image, index) => ({
    image,
    line: lines[index] ?? '',
  }));
  let title = `${message}:`;
  let wrong = 0;
  while (wrong < MAX_TRIES) {
    const list = left.map(({ line }, index) => `${index + 1}  ${printable(line)}\n`);
    await io.stderr.write([`${title}\n`, ...list].join(''));
    const label = `Which one? [1-${left.length}]`;
    const answer = await ask(io, { what: 'number', label, otherwise, hidden: false });
    const matching = chosenBy(left, answer);
    const [first] = matching;
    if (first && matching.length === 1) return first.image;
    title = `${matching.length} of ${left.length} match ${answer}:`;
    const isNarrower = matching.length > 0 && matching.length < left.length;
    wrong = isNarrower ? 0 : wrong + 1;
    if (isNarrower) left = matching;
  }
  throw new ImgctlError('usage', 'no image was chosen', { facts: otherwise });
}

interface Choice {
  readonly image: ReceivedImage;
  readonly line: string;
}

/** Returns the choice of this number, or those that match this word. */
function chosenBy(choices: readonly Choice[], answer: string): readonly Choice[] {
  if (isDigits(answer)) return choices.slice(Number(answer) - 1, Number(answer));
  const word = parseWord(answer);
  return choices.filter(({ line }) => word.matches(line));
}
