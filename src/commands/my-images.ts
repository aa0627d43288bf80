// imgctl my-images: lists the user's own images. The service cannot filter or sort them.

import { guess } from '../cli/guesses.ts';
import { command, SERVICE_CODES } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { reportEmpty, reportNoMatch } from './images/empty.ts';
import {
  describeCount,
  IMAGE_COLUMNS,
  LISTING_OPTIONS,
  type ListingOptions,
  readQuery,
  SHOWN,
  WORDS,
} from './images/options.ts';
import { readOwnImages, warnOfZones } from './images/read.ts';

export const myImages = command({
  name: 'my-images',
  summary: 'list your own images',
  examples: ['imgctl my-images', 'imgctl my-images --sort updated_on,desc -n 1 --json'],
  seeAlso: ['images list', 'sync', 'help filters', 'help output'],
  arguments: [WORDS],
  options: LISTING_OPTIONS,
  fields: IMAGE_COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

async function run(context: Context, options: ListingOptions, words: readonly string[]) {
  const meant = guess(`${words[0]}`, 'my-images');
  if (meant !== undefined) {
    const hint = `${meant}; to search for the word: -f 'name~${words[0]}'`;
    throw new ImgctlError('usage', `my-images has no command ${words[0]}`, { hint });
  }
  const plan = readQuery(context, words, options);
  let summary = '';
  const view = context.view(IMAGE_COLUMNS, options, {
    shown: context.settings.get('columns.my-images') ?? SHOWN,
    summary: () => summary,
  });
  const { images, meta } = await readOwnImages(context);
  const matching = images.filter(plan.matches);
  const found = plan.sort(matching).slice(0, options.limit);
  warnOfZones(context.console, plan);
  summary = describeCount(found.length, options, matching.length);
  const list = view.openList();
  await list.write(found);
  await list.end(options.meta ? { ...meta, count: found.length } : undefined);
  if (found.length > 0) return;
  if (images.length > 0) {
    const empty = { command: 'imgctl my-images', plan, words, filters: options.filter };
    await reportNoMatch(context, view, options, empty);
  } else reportEmpty(options, 'no images yet', 'upload one with: imgctl push FILE', view.note);
}
