// The schemas of images and sync requests, as the service and imgctl name their fields.

import { anyOf, listOf, record, type Schema, value, word } from './schema.ts';

export const IMAGE: Schema = record({
  id: value('integer', 'identifier of the image'),
  name: value('string', 'file name of the OVA or OVF'),
  path: value('string', '[data store] folder/file name'),
  label: value('string', 'folder/file name, or the file name alone'),
  folder: value(['string', 'null'], 'folder in the data store; null for your own images'),
  data_store: value('string', 'data store that holds the file'),
  public: value('boolean', 'true in the public catalogue, false for your own images'),
  created_on: value('string', 'when it was added, as the service writes it'),
  updated_on: value('string', 'when it was last updated, as the service writes it'),
});

export const IMAGES = listOf(IMAGE);

/** One argument prints an object if one image matches. */
export const IMAGE_OR_IMAGES = anyOf(IMAGE, IMAGES);

const SYNC_ID = value(
  ['integer', 'string'],
  'identifier of the sync request, as the service sent it',
);

const STATUS = value(['string', 'null'], 'status word of the service');

const STATE = word(['waiting', 'succeeded', 'failed'], 'what the status word means');

const CHANGED = (what: string) =>
  value(['integer', 'array', 'null'], `${what} images: names or their number`);

const messages = (description: string) => listOf(value('string', 'one message'), description);

/** A sync request that was read, by sync-status or sync --wait. */
const SYNC_REQUEST: Schema = record({
  id: SYNC_ID,
  status: STATUS,
  state: STATE,
  added: CHANGED('added'),
  deleted: CHANGED('deleted'),
  errors: messages('errors of the service'),
  warnings: messages('warnings of the service'),
  created_on: value(['string', 'null'], 'when it was submitted, as the service writes it'),
  updated_on: value(['string', 'null'], 'when it last changed, as the service writes it'),
  response: value('object', 'the body that the service sent'),
});

export const SUBMITTED_SYNC: Schema = record({
  id: SYNC_ID,
  status: STATUS,
  url: value('string', 'URL of the sync request'),
  message: value(['string', 'null'], 'message of the service'),
  response: value(['object', 'array', 'string', 'null'], 'the body that the service sent'),
});

/** sync without --wait, with --wait, and with --dry-run. */
export const SYNC = anyOf(
  SUBMITTED_SYNC,
  SYNC_REQUEST,
  record({
    method: value('string', 'HTTP method that a sync would send'),
    url: value('string', 'URL that a sync would request'),
    images: listOf(value('string', 'name of one of your images'), 'your images'),
  }),
);

export const SYNC_STATUS = anyOf(
  SYNC_REQUEST,
  listOf(
    record({
      id: SYNC_ID,
      status: STATUS,
      state: STATE,
      submitted_on: value('string', 'when it was submitted, in UTC (ISO 8601)'),
      base_url: value('string', 'address of the service'),
    }),
  ),
);
