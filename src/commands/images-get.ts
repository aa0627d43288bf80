// imgctl images get: images by id or exact name, in full.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { type Row, writeRecord } from '../output/index.ts';
import { FIELDS } from '../query/fields.ts';
import { nearestFew } from '../query/nearest.ts';
import { addViewOptions, openWriter, readView, sinkOptions, type ViewOptions } from './listing.ts';

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

const CANDIDATES = 300;

async function get(
  context: Context,
  wanted: readonly string[],
  options: ViewOptions,
): Promise<void> {
  const view = readView(context, options, { columns: FIELDS, setting: undefined });
  const found: Row[] = [];
  let missing: ImgctlError | undefined;
  for (const name of wanted) {
    try {
      found.push(
        ...(/^\d{1,15}$/.test(name) ? [await byId(context, name)] : await byName(context, name)),
      );
    } catch (error) {
      if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
      if (missing) context.warn(missing.message, missing.hint);
      missing = error;
    }
  }
  const [first] = found;
  if (wanted.length === 1 && found.length === 1 && first) {
    await writeRecord(
      { ...sinkOptions(context), ...view, header: options.header !== false },
      first,
    );
  } else if (found.length > 0 || wanted.length > 1) {
    const writer = openWriter(context, view, options);
    await writer.write(found);
    await writer.end();
  }
  if (missing) throw missing;
}

async function byId(context: Context, id: string): Promise<Row> {
  const { client } = await context.session();
  try {
    return await client.getImage(Number(id));
  } catch (error) {
    if (!(error instanceof ImgctlError) || error.code !== 'not-found') throw error;
    const hint = 'see which there are: imgctl images list';
    throw new ImgctlError('not-found', `there is no image with the id ${id}`, {
      hint,
      status: error.status,
    });
  }
}

async function byName(context: Context, name: string): Promise<Row[]> {
  // A service that ignores the filter, or reads a % in it, is answered by the comparison here.
  const found = (await listBy(context, `name,eq,${name}`, undefined)).filter(
    (row) => row.name === name,
  );
  if (found.length > 1) context.note(`${found.length} images have the name ${name}`);
  if (found.length > 0) return found;
  // Names begin with what they are an image of, so that a near one shares the first word.
  const word = /[a-z]{3,}/i.exec(name)?.[0] ?? '';
  const names = (await listBy(context, `name,like,%${word}%`, CANDIDATES)).map((row) =>
    String(row.name),
  );
  const near = nearestFew(name, [...new Set(names)], 3);
  const hint =
    near.length > 0 ? `near it: ${near.join(', ')}` : 'see which there are: imgctl images list';
  throw new ImgctlError('not-found', `there is no image with the name ${name}`, { hint });
}

async function listBy(context: Context, filter: string, limit: number | undefined): Promise<Row[]> {
  const { client } = await context.session();
  const query = { filter, sort: 'id,asc', perPage: 100, expand: true };
  const concurrency = context.settings.number('concurrency');
  const rows: Row[] = [];
  for await (const page of client.allImages(query, { concurrency, limit })) {
    rows.push(...(page.elements as Row[]));
  }
  return rows;
}
