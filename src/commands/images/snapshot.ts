// imgctl images snapshot: saves the whole catalogue for offline use.

import path from 'node:path';
import { argument, command, SERVICE_CODES } from '../../cli/declare.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { replaceUserFile, requireReplaceable } from '../../files/user-file.ts';
import { builtin } from '../../io.ts';
import { stringify } from '../../json.ts';
import { column } from '../../output/columns.ts';
import { escapeInJson } from '../../output/text.ts';
import { EVERYTHING } from '../../query/query.ts';
import { counted } from '../../words.ts';
import { openCatalogue, readImages } from './read.ts';
import { formatSnapshot } from './snapshot-file.ts';

export const imagesSnapshot = command({
  name: 'snapshot',
  summary: 'save the whole catalogue for offline use',
  description: [
    'Saves the public catalogue as JSON, one image per line, gzipped if the name ends with .gz. If the list is incomplete, nothing is saved. Read it with --from, or serve it with "imgctl emulator --from".',
  ],
  examples: [
    'imgctl images snapshot catalogue.json',
    'imgctl images snapshot catalogue.json.gz',
    'imgctl images list ubuntu --from catalogue.json --max-age 7d',
  ],
  seeAlso: ['images list', 'emulator', 'help choosing'],
  arguments: [argument('file', 'file to write (standard output)', { from: 'files' })],
  fields: [
    column('version', 'number', 'version of this format, 1'),
    column('taken_at', 'string', 'when the list was requested, in UTC (ISO 8601)'),
    column('base_url', 'string', 'address of the service'),
    column('username', 'string or null', 'user name of the account'),
    column('images', 'array', 'all images, the lowest id first'),
  ],
  exitCodes: SERVICE_CODES,
  run,
});

async function run(context: Context, _options: object, file?: string) {
  if (file === undefined || file === '-') return { text: (await takeSnapshot(context)).text };
  if (file.trim() === '') {
    const facts = 'provide a file, or omit it to print the snapshot';
    throw new ImgctlError('usage', 'the name of the snapshot must not be empty', { facts });
  }
  const target = path.resolve(context.io.cwd, file);
  const what = `the snapshot ${file}`;
  // Before the list is read, which may take long.
  requireReplaceable(target, what);
  const { text, count } = await takeSnapshot(context);
  const isGzip = /\.gz$/i.test(file);
  const content = isGzip ? builtin('node:zlib').gzipSync(text) : text;
  await replaceUserFile(target, content, what);
  context.console.success(`Saved ${counted(count, 'image')} in ${file}`);
  return undefined;
}

/** Returns the snapshot, and the number of its images. */
async function takeSnapshot(context: Context) {
  const { baseUrl, username } = (await context.session()).account;
  // Before the list is read: then the snapshot is never older than it says.
  const takenAt = new Date(context.io.now()).toISOString();
  const lines: string[] = [];
  for await (const images of readImages(context, await openCatalogue(context, {}), EVERYTHING)) {
    for (const image of images) lines.push(stringify(image));
  }
  // The list begins with the highest id; new images at the end make small diffs.
  lines.reverse();
  const head = { taken_at: takenAt, base_url: baseUrl, username: username || null };
  return { text: escapeInJson(formatSnapshot(head, lines)), count: lines.length };
}
