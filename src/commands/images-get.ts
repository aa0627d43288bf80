// imgctl images get: shows images by id or exact name, with all fields.

import { listCatalogue } from '../catalogue/listing.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import type { Row } from '../output/writers.ts';
import { FIELDS } from '../query/fields.ts';
import { planQuery, type QueryInput } from '../query/plan.ts';
import { nearestFew } from '../query/suggest.ts';
import { collectNames } from '../session/image-names.ts';
import { readView, rememberNames, type ViewOptions } from './listing.ts';

const MAX_SUGGESTION_CANDIDATES = 1000;

export async function run(
  context: Context,
  options: ViewOptions,
  wanted: readonly string[],
): Promise<void> {
  if (wanted.some((name) => name.trim() === '')) {
    throw new ImgctlError('usage', 'the name of an image must not be empty', {
      hint: 'provide an id or a name; list both with: imgctl images list',
    });
  }
  const view = readView(context, options, { columns: FIELDS });
  const found: Row[] = [];
  let missing: ImgctlError | undefined;
  for (const name of wanted) {
    try {
      found.push(...(await find(context, name)));
    } catch (error) {
      if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
      if (missing) context.console.warn(missing.message, missing.hint);
      missing = error;
    }
  }
  const [first] = found;
  if (wanted.length === 1 && found.length === 1 && first) {
    await context.printRecord(first, view);
  } else if (found.length > 0 || wanted.length > 1) {
    await context.printList(found, view.columns, view);
  }
  await rememberNames(context, collectNames(found), false);
  if (missing) throw missing;
}

async function find(context: Context, wanted: string): Promise<readonly Row[]> {
  const id = /^(?:0|[1-9]\d{0,14})$/.test(wanted) ? Number(wanted) : undefined;
  const found = id === undefined ? [] : await byId(context, id);
  return found.length > 0 ? found : byName(context, wanted, id !== undefined);
}

async function byId(context: Context, id: number): Promise<Row[]> {
  const { client } = await context.session();
  try {
    return [await client.getImage(id)];
  } catch (error) {
    if (error instanceof ImgctlError && error.code === 'not-found') return [];
    throw error;
  }
}

/** @throws ImgctlError not-found, with similar names in the hint */
async function byName(context: Context, name: string, isId: boolean): Promise<Row[]> {
  // The service may ignore the filter or the case.
  const images = await listMatching(context, { filters: [`name,eq,${name}`] });
  const found = images.filter((row) => row.name === name);
  if (found.length > 1) context.console.note(`${found.length} images have the name ${name}`);
  if (found.length > 0) return found;
  const similar = isId ? [] : await similarNames(context, name);
  throw new ImgctlError('not-found', `image ${name} does not exist`, {
    hint:
      similar.length > 0
        ? `did you mean ${similar.join(' or ')}?`
        : 'list all images with: imgctl images list',
  });
}

async function similarNames(context: Context, name: string): Promise<string[]> {
  // Similar names usually share the first word; else compare the names of any images.
  const word = /[a-z]{3,}/i.exec(name)?.[0];
  for (const words of word === undefined ? [[]] : [[word], []]) {
    const images = await listMatching(context, { words }, MAX_SUGGESTION_CANDIDATES);
    const names = new Set(images.map((row) => row.name).filter((each) => typeof each === 'string'));
    const near = nearestFew(name, [...names], 3);
    if (near.length > 0) return near;
  }
  return [];
}

async function listMatching(context: Context, input: QueryInput, limit?: number): Promise<Row[]> {
  const { client } = await context.session();
  const plan = planQuery(input, { now: context.io.now() });
  const concurrency = context.settings.number('concurrency');
  const rows: Row[] = [];
  for await (const { images } of listCatalogue(client, { plan, concurrency, limit })) {
    rows.push(...images.filter((image) => typeof image !== 'string'));
  }
  return rows;
}
