// Declares the commands that choose, watch and save images: latest, changes and snapshot.

import {
  FILTER_OPTION,
  IMAGE_FIELDS,
  SOURCE_OPTIONS,
  TABLE_OPTIONS,
  VIEW_OPTIONS,
  WORDS,
} from './listing.ts';
import { type CommandSpec, METRICS_OPTION, option, SERVICE_CODES } from './spec.ts';

export const latest: CommandSpec = {
  name: 'latest',
  summary: 'show the newest image of a series',
  description: [
    'Names with the same text and other numbers form a series. The numbers decide which image is newer: 8.10 is newer than 8.9. The time of the last update never decides; created_on decides between equal names.',
    'A word of digits and dots matches whole numbers: 8 means 8 or 8.10, not 18 or x86_64. Any other word matches as text, but never ends within a number.',
    'Exits with 2 if several series match, or if a word means different numbers of a series, and lists them. Exits with 5 if nothing matches.',
  ],
  examples: [
    'imgctl images latest ubuntu server',
    'imgctl images latest ubuntu 22.04 server --get path',
    'imgctl images latest debian --each',
    'imgctl images latest rocky GenericCloud-Base --explain',
  ],
  seeAlso: ['images list', 'images get', 'images lock', 'help choosing'],
  arguments: [{ ...WORDS, description: 'consider only images whose name matches each text' }],
  options: [
    FILTER_OPTION,
    option('--each', 'show the newest image of every series'),
    option('--explain', 'show all candidates with their series and version, the newest first', {
      conflicts: ['each', 'get', 'columns'],
    }),
    ...VIEW_OPTIONS,
    ...SOURCE_OPTIONS,
  ],
  fields: [
    ...IMAGE_FIELDS,
    ['series', 'string', 'with --explain: the name with # for each number'],
    ['rank', 'number', 'with --explain: 1 for the newest of its series'],
    ['version', 'string', 'with --explain: the numbers of the name, separated by dots'],
  ],
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../images-latest.ts')).run,
};

export const changes: CommandSpec = {
  name: 'changes',
  summary: 'show what changed since the last run',
  description: [
    'Compares the catalogue with what the last run saw, and shows images that were added, updated, moved or removed. moved means another name, path, folder or data store. With -o json, before is the image as it was.',
    'The first run stores what it sees and shows nothing. A run that fails, or whose output is not read to its end, changes nothing: the next run shows the changes again. Runs with the same cursor wait for each other.',
    'Each profile, user, query and cursor has its own state.',
  ],
  examples: [
    'imgctl images changes',
    'imgctl images changes ubuntu --cursor nightly --exit-code',
    'imgctl images changes --json | jq -r \'.[] | select(.change == "added").path\'',
    'imgctl images changes --since-file catalogue.json',
  ],
  seeAlso: ['images snapshot', 'help choosing', 'help exit-codes'],
  arguments: [WORDS],
  options: [
    FILTER_OPTION,
    option('--mine', 'compare your own images instead of the catalogue'),
    option('--cursor <name>', 'name of an independent state', {
      default: 'default',
      value: { kind: 'text', from: 'cursors' },
    }),
    option('--since-file <file>', 'compare with this snapshot instead of the last run', {
      value: { kind: 'text', from: 'files' },
      conflicts: ['cursor', 'mine'],
    }),
    option('--peek', 'show the changes again in the next run'),
    option('--exit-code', 'exit with 10 if there are changes'),
    METRICS_OPTION,
    ...TABLE_OPTIONS,
  ],
  mutates: true,
  fields: [
    ['change', 'string', 'added, updated, moved or removed'],
    ['id', 'number', 'identifier of the image'],
    ['name', 'string', 'file name'],
    ['path', 'string', '[data store] folder/file name'],
    ['updated_on', 'string', 'when it was last updated, as the service writes it'],
    ['before', 'object or null', 'the image as it was; null if it was added'],
  ],
  exitCodes: [...SERVICE_CODES, 10],
  load: async () => (await import('../images-changes.ts')).run,
};

export const snapshot: CommandSpec = {
  name: 'snapshot',
  summary: 'save the whole catalogue for offline use',
  description: [
    'Saves every image of the public catalogue as JSON, one image per line. The list is complete, or nothing is saved. Read it with --from in "images list", "images get" and "images latest", or serve it with "imgctl emulator --from".',
  ],
  examples: [
    'imgctl images snapshot --file catalogue.json',
    'imgctl images snapshot | gzip > catalogue.json.gz',
    'imgctl images list ubuntu --from catalogue.json --max-age 7d',
  ],
  seeAlso: ['images list', 'emulator', 'help choosing'],
  options: [
    option('--file <file>', 'file to replace, instead of standard output', {
      value: { kind: 'text', from: 'files' },
    }),
  ],
  mutates: true,
  fields: [
    ['version', 'number', 'version of this format, 1'],
    ['taken_at', 'string', 'when the list was requested, in UTC (ISO 8601)'],
    ['base_url', 'string', 'address of the service'],
    ['username', 'string or null', 'user name of the account'],
    ['images', 'array', 'all images, in the order of their ids'],
  ],
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../images-snapshot.ts')).run,
};
