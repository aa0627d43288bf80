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

const TIME = (what: string) => value(['string', 'null'], `${what}, as the service writes it`);

const PIN = record({
  lock: value('string', 'name of the lock'),
  text: listOf(value('string', 'a text'), 'texts that the name of the image must contain'),
  filters: listOf(value('string', 'field,operator,value'), 'filters of the query'),
  id: value('integer', 'identifier of the image'),
  name: NAME,
  path: PATH,
  created_on: TIME('when it was added'),
  updated_on: TIME('when it was last updated'),
});

export const LOCK_ADD = PIN;

export const LOCK_LIST = listOf(PIN);

export const LOCK_CHECK = listOf(
  record({
    lock: value('string', 'name of the lock'),
    state: word(['gone', 'replaced', 'moved', 'newer', 'ok'], 'the first that applies'),
    id: value('integer', 'identifier of the locked image'),
    name: NAME,
    path: PATH,
    newest_id: value(['integer', 'null'], 'identifier of a newer image'),
    newest_name: value(['string', 'null'], 'file name of a newer image'),
  }),
);

export const LOCK_UPDATE = listOf(
  record({
    lock: value('string', 'name of the lock'),
    change: word(['updated', 'unchanged'], 'what happened'),
    old_id: value('integer', 'identifier of the image before'),
    old_name: value(['string', 'null'], 'file name before'),
    old_path: value(['string', 'null'], 'path before'),
    id: value('integer', 'identifier of the image'),
    name: NAME,
    path: PATH,
  }),
);
