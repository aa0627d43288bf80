// imgctl images get: shows images by id, name, path, label or URL, with all fields.

import { numericId } from '../../api/images.ts';
import { parseId } from '../../api/responses.ts';
import type { ReceivedImage } from '../../api/types.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { argument, command, option, type Parsed, SERVICE_CODES } from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import { findPaths } from '../../config/paths.ts';
import type { Context } from '../../context.ts';
import { hasCode, ImgctlError } from '../../errors.ts';
import { hint, type Invocation, imgctl } from '../../facts.ts';
import type { Field } from '../../query/fields.ts';
import { contains, equals } from '../../query/filter.ts';
import { AmbiguousError } from '../../query/newest.ts';
import { Query } from '../../query/query.ts';
import { isDigits } from '../../words.ts';
import { collectNames, rememberImages, suggestImages } from './image-names.ts';
import { listCommand, withQuery, withSourceAndOutput } from './invocation.ts';
import { DEFAULT_LOCK_FILE, suggestLocks } from './lock/lock-file.ts';
import { readLockedImage } from './lock/locked-image.ts';
import {
  CATALOGUE_OPTIONS,
  type CatalogueOptions,
  IMAGE_COLUMNS,
  isPublic,
  MINE_OPTION,
  VIEW_OPTIONS,
} from './options.ts';
import { collectImages, openCatalogue } from './read.ts';

const OPTIONS = [
  option('--lock <name>', 'show the image locked under this name', { suggest: suggestLocks }),
  // Without a default, so that one that is given without --lock is an error.
  option('--file <file>', `lock file (${DEFAULT_LOCK_FILE})`, { from: 'files' }),
  ...VIEW_OPTIONS,
  ...CATALOGUE_OPTIONS,
  MINE_OPTION,
] as const;

export const imagesGet = command({
  name: 'get',
  otherNames: ['show', 'describe', 'view', 'info'],
  summary: 'show images by id, name, path, label or URL',
  description: [
    "Digits are read as an id, http... as a URL, [... as a path, anything else as a name, then as a label. Quote a path: '[images-01] ubuntu/NAME.ova'. If several images match, lists them and exits with 2.",
    'With --json, one argument prints an object, several print an array. With --lock, exits with 5 if the image is gone and with 1 if it was replaced; warns if it moved.',
  ],
  examples: [
    'imgctl images get 1003',
    "imgctl images get 1003 1006 --json | jq -r '.[].path'",
    'imgctl images get --lock web --get path',
    'imgctl images get --mine sample.ova',
  ],
  seeAlso: ['images list', 'images latest', 'images lock', 'help output'],
  arguments: [
    argument('id|name|path|label|url', 'images to show', {
      variadic: true,
      suggest: suggestImages,
    }),
  ],
  options: OPTIONS,
  fields: IMAGE_COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

async function run(
  context: Context,
  options: Parsed<typeof OPTIONS>,
  wanted: readonly string[],
): Promise<Result> {
  if (wanted.some((name) => name.trim() === '')) {
    const facts = hint`provide an id or a name; list both with: ${imgctl('images', 'list')}`;
    throw new ImgctlError('usage', 'the name of an image must not be empty', { facts });
  }
  const problem = problemOf(options, wanted);
  if (problem !== undefined) {
    const facts = 'provide an id or a name, or a locked image with --lock NAME';
    throw new ImgctlError('usage', problem, { facts });
  }
  const command = withSourceAndOutput(context, options, 'images', 'get');
  refuseUnquotedPath(wanted, command);
  const output = context.output(IMAGE_COLUMNS, { ...options, asRecords: true });
  const catalogue = await openCatalogue(context, options);
  const { lock, file = DEFAULT_LOCK_FILE } = options;
  if (lock !== undefined) {
    const image = await readLockedImage(context, catalogue, { ...options, file }, lock);
    return { output, rows: [image], isOne: true };
  }
  const found: ReceivedImage[] = [];
  const missing: ImgctlError[] = [];
  for (const name of wanted) {
    try {
      found.push(await find({ catalogue, options, command }, name));
    } catch (error) {
      if (!hasCode(error, 'not-found')) throw error;
      missing.push(error);
    }
  }
  const error = missing.pop();
  for (const { message, facts } of missing) context.console.warn(message, facts);
  const afterwards = async () => {
    if (!isPublic(options)) return;
    const { account } = await context.session();
    await rememberImages(findPaths(context.io).cache, account, collectNames(found), false);
  };
  return { output, rows: found, isOne: wanted.length === 1, afterwards, error };
}

/** Returns what is wrong with the choice of images. */
function problemOf(
  { lock, file }: Pick<Parsed<typeof OPTIONS>, 'lock' | 'file'>,
  wanted: readonly string[],
): string | undefined {
  if (lock !== undefined) {
    return wanted.length > 0 ? '--lock cannot be used with other images' : undefined;
  }
  if (file !== undefined) return '--file needs --lock';
  return wanted.length === 0 ? 'no image given' : undefined;
}

/** Without quotes, the shell divides a path at its blank. @throws ImgctlError usage */
function refuseUnquotedPath(wanted: readonly string[], command: Invocation): void {
  const start = wanted.findIndex(
    (word) => word.startsWith('[') && word.indexOf(']') === word.length - 1,
  );
  if (start === -1) return;
  const [store = '', file = 'FOLDER/NAME'] = wanted.slice(start);
  const quote = hint`quote the path: ${imgctl(...command.imgctl, `${store} ${file}`)}`;
  throw new ImgctlError('usage', `${store} is only the data store of a path`, { facts: quote });
}

/** Where and how images are looked up. */
interface Lookup {
  readonly catalogue: Catalogue;
  readonly options: CatalogueOptions;
  /** The command that gets an image in the same way. */
  readonly command: Invocation;
}

/** @throws ImgctlError not-found, ambiguous; usage: the URL is not one of the service */
async function find(lookup: Lookup, wanted: string): Promise<ReceivedImage> {
  const { catalogue, options } = lookup;
  const { id, fields, isName } = waysToFind(wanted, catalogue.baseUrl);
  const byId = id === undefined ? undefined : await catalogue.getImage(id);
  if (byId) return byId;
  for (const field of fields) {
    const image = await findBy(field, lookup, wanted);
    if (image) return image;
  }
  if (isName) throw await noImageNamed(lookup, wanted);
  const { from = 'the catalogue', mine } = options;
  const place = mine ? 'is not yours' : `is not in ${from}`;
  throw new ImgctlError('not-found', `image ${wanted} ${place}`, {
    facts: isPublic(options)
      ? hint`for one of your own images: ${imgctl('images', 'get', '--mine', wanted)}`
      : hint`list images with: ${listCommand(options)}`,
  });
}

/** How an image is looked for: by the id, and if none has it, by the fields in this order. */
interface Ways {
  readonly id?: number;
  readonly fields: readonly Field[];
  /** True if it can only be a name or a label. */
  readonly isName?: boolean;
}

/** @throws ImgctlError usage: the URL is not one of the service */
function waysToFind(wanted: string, baseUrl: string): Ways {
  if (/^https?:/i.test(wanted)) return { id: idOfUrl(wanted, baseUrl), fields: [] };
  if (wanted.startsWith('[')) return { fields: ['path'] };
  const id = parseId(wanted);
  const fields = ['name', 'label'] as const;
  return typeof id === 'number' ? { id, fields } : { fields, isName: true };
}

function idOfUrl(text: string, baseUrl: string): number {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const place = url ? `${url.origin}${url.pathname}` : '';
  const start = `${baseUrl}/v2/image/`;
  const id = place.startsWith(start) ? place.slice(start.length) : '';
  if (isDigits(id) && Number.isSafeInteger(Number(id))) return Number(id);
  throw new ImgctlError('usage', `not an image URL of ${baseUrl}: ${place || 'invalid'}`, {
    facts: `use a URL such as ${start}42, or the id alone`,
  });
}

/** More are not counted: one page tells whether the text is part of a name. */
const MAX_COUNTED = 100;

async function noImageNamed(lookup: Lookup, wanted: string): Promise<ImgctlError> {
  const { catalogue, options, command } = lookup;
  const message = `no image is named ${wanted}`;
  if (/^\d+(,\d+)+$/.test(wanted)) {
    const facts = hint`use: ${imgctl(...command.imgctl, ...wanted.split(','))}`;
    return new ImgctlError('not-found', message, { facts });
  }
  const query = new Query({ filters: [contains('name', wanted)] });
  let count = 0;
  for await (const images of catalogue.images(query, { limit: MAX_COUNTED })) {
    count += images.length;
  }
  const list = listCommand(options);
  if (count > 0) {
    const contain = count === 1 ? '1 name contains it' : `${count} names contain it`;
    const counted = count === MAX_COUNTED ? `at least ${contain}` : contain;
    return new ImgctlError('not-found', `${message}; ${counted}`, {
      facts: hint`list images with: ${withQuery(list, query)}`,
    });
  }
  const own = isPublic(options) ? hint`, or your own with: ${imgctl('my-images')}` : '';
  return new ImgctlError('not-found', message, { facts: hint`list images with: ${list}${own}` });
}

async function findBy(field: Field, { catalogue, command }: Lookup, wanted: string) {
  const query = new Query({ filters: [equals(field, wanted)] });
  const found = await collectImages(catalogue.images(query));
  const [first, ...others] = found;
  if (first === undefined || others.length === 0) return first;
  const message = `${found.length} images have the ${field} ${wanted}`;
  const error = new AmbiguousError(message, [first, ...others]);
  const id = found.map(numericId).find((each) => each !== undefined);
  if (id === undefined) throw error;
  const facts = hint`use an id, for example: ${imgctl(...command.imgctl, `${id}`)}`;
  throw error.with({ facts });
}
