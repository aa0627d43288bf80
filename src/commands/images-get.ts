// imgctl images get: images by id or exact name, in full.

import type { Command } from 'commander';
import { LARGEST_PAGE } from '../catalogue.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { type Row, writeRecord } from '../output/index.ts';
import { FIELDS } from '../query/fields.ts';
import { nearestFew } from '../query/suggest.ts';
import { collectNames } from '../session/image-names.ts';
import {
  addViewOptions,
  openWriter,
  readView,
  rememberNames,
  type ViewOptions,
} from './listing.ts';

export function define(command: Command, context: Context): void {
  command.argument('<id|name...>', 'image ids, or exact names');
  addViewOptions(command);
  command
    .addHelpText('after', EXAMPLES)
    .action((wanted: string[], options: ViewOptions) => get(context, wanted, options));
}

const EXAMPLES = `
One argument gives one JSON object (an array where several images have that name), several an array.

Examples:
  $ imgctl images get 42
  $ imgctl images get 7 42 --json | jq -r '.[].path'
`;

/** Names that are compared to suggest the nearest. */
const CANDIDATES = 1000;

async function get(
  context: Context,
  wanted: readonly string[],
  options: ViewOptions,
): Promise<void> {
  if (wanted.some((name) => name.trim() === '')) {
    throw new ImgctlError('usage', 'an empty name', { hint: 'give an id or the name of an image' });
  }
  const view = readView(context, options, { columns: FIELDS, setting: undefined });
  const found: Row[] = [];
  let missing: ImgctlError | undefined;
  for (const name of wanted) {
    try {
      found.push(...(await find(context, name)));
    } catch (error) {
      if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
      if (missing) context.warn(missing.message, missing.hint);
      missing = error;
    }
  }
  const [first] = found;
  if (wanted.length === 1 && found.length === 1 && first) {
    await writeRecord({ ...context.sinkOptions, ...view, header: options.header !== false }, first);
  } else if (found.length > 0 || wanted.length > 1) {
    const writer = openWriter(context, view, options);
    await writer.write(found);
    await writer.end();
  }
  await rememberNames(context, collectNames(found), false);
  if (missing) throw missing;
}

/** @throws ImgctlError not-found */
async function find(context: Context, wanted: string): Promise<readonly Row[]> {
  const id = /^(?:0|[1-9]\d{0,14})$/.test(wanted) ? Number(wanted) : undefined;
  const found = id === undefined ? [] : await byId(context, id);
  return found.length > 0 ? found : byName(context, wanted, id !== undefined);
}

/** The image with that id, or none. */
async function byId(context: Context, id: number): Promise<Row[]> {
  const { client } = await context.session();
  try {
    return [await client.getImage(id)];
  } catch (error) {
    if (error instanceof ImgctlError && error.code === 'not-found') return [];
    throw error;
  }
}

/** @throws ImgctlError not-found, with the nearest names */
async function byName(context: Context, name: string, isId: boolean): Promise<Row[]> {
  // A service that ignores the filter, or the case, is answered by the comparison here.
  const candidates = await listBy(context, `name,eq,${name}`);
  const found = candidates.filter((row) => row.name === name);
  if (found.length > 1) context.note(`${found.length} images have the name ${name}`);
  if (found.length > 0) return found;
  const near = isId ? [] : await namesNear(context, name);
  throw new ImgctlError('not-found', `there is no image with the ${isId ? 'id' : 'name'} ${name}`, {
    hint:
      near.length > 0 ? `near it: ${near.join(', ')}` : 'see which there are: imgctl images list',
  });
}

async function namesNear(context: Context, name: string): Promise<string[]> {
  // Names begin with what they are an image of, so that a near one shares the first word, if that is right.
  const word = /[a-z]{3,}/i.exec(name)?.[0];
  for (const filter of word === undefined ? [undefined] : [`name,like,%${word}%`, undefined]) {
    const names = (await listBy(context, filter, CANDIDATES)).map((row) => row.name);
    const near = nearestFew(
      name,
      [...new Set(names.filter((each) => typeof each === 'string'))],
      3,
    );
    if (near.length > 0) return near;
  }
  return [];
}

async function listBy(context: Context, filter?: string, limit?: number): Promise<Row[]> {
  const { client } = await context.session();
  const query = { filter, sort: 'id,asc', perPage: LARGEST_PAGE, expand: true };
  const concurrency = context.settings.number('concurrency');
  let rows: Row[] = [];
  let pass = 1;
  for await (const page of client.allImages(query, { concurrency, limit })) {
    // Read anew, the list supersedes what came before.
    if (page.pass > pass) rows = [];
    pass = page.pass;
    rows.push(...(page.elements as Row[]));
  }
  return rows;
}
