// The schema of what push prints.

import { IMAGES, SUBMITTED_SYNC } from './images.ts';
import { anyOf, listOf, record, type Schema, value, word } from './schema.ts';

const NAME = value('string', 'name of the file or image');

const FILES = listOf(
  record({
    name: NAME,
    size: value('integer', 'bytes'),
    state: word(['uploaded', 'unchanged', 'skipped'], 'what happened to the file'),
  }),
  'with --no-sync: the files',
);

const PLAN = listOf(
  record({
    step: word(['upload', 'sync'], 'the part of the push'),
    action: word(
      ['upload', 'continue', 'replace', 'unchanged', 'skip', 'conflict', 'add', 'update', 'delete'],
      'what would happen',
    ),
    name: NAME,
    size: value(['integer', 'null'], 'bytes; null for the steps of the sync'),
  }),
  'with --dry-run: what would happen',
);

/** The new images; with --no-wait the submitted sync request. */
export const PUSH: Schema = anyOf(IMAGES, SUBMITTED_SYNC, FILES, PLAN);
