// imgctl images snapshot: saves the whole catalogue for offline use.

import path from 'node:path';
import { formatSnapshot } from '../catalogue/snapshot.ts';
import type { Context } from '../context.ts';
import { replaceUserFile } from '../files/user-file.ts';
import { stringify } from '../json.ts';
import { counted } from '../output/messages.ts';
import { writeJsonText } from '../output/writers.ts';
import { planQuery } from '../query/plan.ts';
import { openSource, readAll } from './source.ts';

export async function run(context: Context, { file }: { file?: string }): Promise<void> {
  const { io, console } = context;
  const { baseUrl, account } = await context.session();
  // Before the list is read: then the snapshot is never older than it says.
  const takenAt = new Date(io.now()).toISOString();
  const plan = planQuery({}, { now: io.now() });
  const lines: string[] = [];
  for await (const images of readAll(context, await openSource(context, {}), plan)) {
    for (const image of images) lines.push(stringify(image));
  }
  const head = { taken_at: takenAt, base_url: baseUrl, username: account.username || null };
  const text = formatSnapshot(head, lines);
  if (file === undefined || file === '-') return writeJsonText(console.stdout, text);
  await replaceUserFile(path.resolve(io.cwd, file), text, `the snapshot ${file}`, io.system);
  console.success(`${counted(lines.length, 'image')} saved in ${file}`);
}
