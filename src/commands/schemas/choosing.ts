// The schemas of the commands that choose and save images.

import { IMAGE, IMAGES } from './images.ts';
import { anyOf, listOf, record, type Schema, value, word } from './schema.ts';

/** One image; with --each a list; with --explain the candidates. */
export const LATEST = anyOf(
  IMAGE,
  IMAGES,
  listOf(
    record({
      series: value('string', 'name with # for each number'),
      rank: value('integer', '1 for the newest of its series'),
      version: value('string', 'numbers of the name, separated by dots'),
      id: value(['integer', 'null'], 'identifier of the image'),
      name: value('string', 'file name'),
      path: value(['string', 'null'], '[data store] folder/file name'),
      created_on: value(['string', 'null'], 'when it was added, as the service writes it'),
    }),
  ),
);

const NAME = value(['string', 'null'], 'file name');
const PATH = value(['string', 'null'], '[data store] folder/file name');
const ID = value(['integer', 'null'], 'identifier of the image');

export const CHANGES: Schema = listOf(
  record({
    change: word(['added', 'updated', 'moved', 'removed'], 'what happened'),
    id: ID,
    name: NAME,
    path: PATH,
    updated_on: value(['string', 'null'], 'when it was last updated, as the service writes it'),
    before: {
      ...IMAGE,
      type: ['object', 'null'],
      description: 'the image as it was; null if it was added',
    },
  }),
);

export const SNAPSHOT = record({
  version: value('integer', 'version of this format, 1'),
  taken_at: value('string', 'when the list was requested, in UTC (ISO 8601)'),
  base_url: value('string', 'address of the service'),
  username: value(['string', 'null'], 'user name of the account'),
  images: listOf(IMAGE, 'all images, in the order of their ids'),
});
