// imgctl images snapshot: saves the whole catalogue for offline use.

import path from 'node:path';
import { formatSnapshot } from '../../catalogue/snapshot.ts';
import { argument, command, SERVICE_CODES } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { replaceUserFile } from '../../files/user-file.ts';
import { builtin } from '../../io.ts';
import { stringify } from '../../json.ts';
import { column } from '../../output/columns.ts';
import { escapeInJson } from '../../output/text.ts';
import { EVERYTHING } from '../../query/query.ts';
import { counted } from '../../words.ts';
import { openCatalogue, readImages } from './read.ts';

export const imagesSnapshot = command({
  name: 'snapshot',
  summary: 'save the whole catalogue for offline use',
  description: [
    'Saves the public catalogue as JSON, one image per line, by gzip if the name ends with .gz. If the list is incomplete, nothing is saved. Read it with --from, or serve it with "imgctl emulator --from".',
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
  const { io, console } = context;
  const { baseUrl, account } = await context.session();
  // Before the list is read: then the snapshot is never older than it says.
  const takenAt = new Date(io.now()).toISOString();
  const lines: string[] = [];
  for await (const images of readImages(context, await openCatalogue(context, {}), EVERYTHING)) {
    for (const image of images) lines.push(stringify(image));
  }
  // New images at the end make small diffs.
  lines.reverse();
  const head = { taken_at: takenAt, base_url: baseUrl, username: account.username || null };
  const text = escapeInJson(formatSnapshot(head, lines));
  if (file === undefined || file === '-') return { text };
  const isGzip = /\.gz$/i.test(file);
  const content = isGzip ? builtin('node:zlib').gzipSync(text) : text;
  await replaceUserFile(path.resolve(io.cwd, file), content, `the snapshot ${file}`);
  console.success(`Saved ${counted(lines.length, 'image')} in ${file}`);
  return undefined;
}
