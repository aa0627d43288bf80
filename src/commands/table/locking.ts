// Declares the commands that pin images in a lock file.

import type { ArgumentDeclaration, FieldDeclaration } from '../../declarations.ts';
import { DEFAULT_LOCK_FILE } from '../../files/paths.ts';
import { FILTER_OPTION } from './listing.ts';
import { type CommandSpec, GET_OPTION, option, SERVICE_CODES } from './spec.ts';

export const LOCK_FILE_OPTION = option('--file <file>', 'lock file', {
  default: DEFAULT_LOCK_FILE,
  value: { kind: 'text', from: 'files' },
});

const NAMES: ArgumentDeclaration = {
  name: 'name',
  description: 'names of locked images (all)',
  variadic: true,
  value: { kind: 'text', from: 'locks' },
};

const LOCK_FIELDS: readonly FieldDeclaration[] = [
  ['lock', 'string', 'name of the lock'],
  ['text', 'array', 'texts that the name of the image must contain'],
  ['filters', 'array', 'filters of the query, as field,operator,value'],
  ['id', 'number', 'identifier of the image'],
  ['name', 'string', 'file name'],
  ['path', 'string', '[data store] folder/file name'],
  ['created_on', 'string', 'when it was added, as the service writes it'],
  ['updated_on', 'string', 'when it was last updated, as the service writes it'],
];

export const lock: CommandSpec = {
  name: 'lock',
  summary: 'pin images by name in a file',
  description: [
    'A lock file stores, for each name, a query and its newest image. Commit it, so that every build uses the same images. It has one field per line, so that a diff shows only what changed.',
  ],
  examples: ['imgctl images lock add web ubuntu 22.04 server', 'imgctl images lock check'],
  seeAlso: ['images get', 'images latest', 'help choosing'],
  subcommands: [
    {
      name: 'add',
      summary: 'lock the newest image that matches',
      description: ['Selects the image as "imgctl images latest" does.'],
      examples: [
        'imgctl images lock add web ubuntu 22.04 server',
        'imgctl images lock add db debian genericcloud -f folder,ne,archive',
      ],
      seeAlso: ['images latest', 'images lock update'],
      arguments: [
        { name: 'name', description: 'name for the locked image', required: true },
        {
          name: 'text',
          description: 'consider only images whose name matches each text',
          variadic: true,
        },
      ],
      options: [FILTER_OPTION, LOCK_FILE_OPTION, GET_OPTION],
      mutates: true,
      fields: LOCK_FIELDS,
      exitCodes: SERVICE_CODES,
      load: async () => (await import('../images-lock.ts')).add,
    },
    {
      name: 'list',
      summary: 'list locked images',
      description: ['Does not contact the service.'],
      examples: ['imgctl images lock list', 'imgctl images lock list --get path'],
      options: [LOCK_FILE_OPTION, GET_OPTION],
      fields: LOCK_FIELDS,
      exitCodes: [5],
      load: async () => (await import('../images-lock.ts')).list,
    },
    {
      name: 'check',
      summary: 'compare locked images with the catalogue',
      description: [
        'Shows the state of each image. If several apply, the first of these:',
        {
          terms: [
            ['gone', 'the image no longer exists'],
            ['replaced', 'it was updated after it was locked'],
            ['moved', 'its name or path changed'],
            ['newer', 'there is a newer image of the same series'],
            ['ok', 'nothing changed'],
          ],
        },
        'Exits with 1 if an image is gone, replaced or moved. With --exit-code, exits with 10 if there are only newer ones.',
      ],
      examples: [
        'imgctl images lock check',
        'imgctl images lock check --exit-code || imgctl images lock update',
      ],
      seeAlso: ['images lock update', 'help exit-codes'],
      arguments: [NAMES],
      options: [
        option('--exit-code', 'exit with 10 if there are newer images'),
        LOCK_FILE_OPTION,
        GET_OPTION,
      ],
      fields: [
        ['lock', 'string', 'name of the lock'],
        ['state', 'string', 'gone, replaced, moved, newer or ok: the first that applies'],
        ['id', 'number', 'identifier of the locked image'],
        ['name', 'string', 'file name'],
        ['path', 'string', '[data store] folder/file name'],
        ['newest_id', 'number or null', 'identifier of a newer image'],
        ['newest_name', 'string or null', 'file name of a newer image'],
      ],
      exitCodes: [...SERVICE_CODES, 10],
      load: async () => (await import('../images-lock.ts')).check,
    },
    {
      name: 'update',
      summary: 'update locked images to the newest',
      description: ['Updates the named images, or all. If one of them fails, none is changed.'],
      examples: ['imgctl images lock update', 'imgctl images lock update web --json'],
      seeAlso: ['images lock check'],
      arguments: [NAMES],
      options: [LOCK_FILE_OPTION, GET_OPTION],
      mutates: true,
      fields: [
        ['lock', 'string', 'name of the lock'],
        ['change', 'string', 'updated or unchanged'],
        ['old_id', 'number', 'identifier of the image before'],
        ['old_name', 'string', 'file name before'],
        ['old_path', 'string', 'path before'],
        ['id', 'number', 'identifier of the image'],
        ['name', 'string', 'file name'],
        ['path', 'string', '[data store] folder/file name'],
      ],
      exitCodes: SERVICE_CODES,
      load: async () => (await import('../images-lock.ts')).update,
    },
    {
      name: 'remove',
      summary: 'unlock an image',
      examples: [
        'imgctl images lock remove web',
        'imgctl images lock remove db --file ci.lock.json',
      ],
      arguments: [
        { ...NAMES, description: 'name of a locked image', required: true, variadic: false },
      ],
      options: [LOCK_FILE_OPTION],
      mutates: true,
      exitCodes: [5],
      load: async () => (await import('../images-lock.ts')).remove,
    },
  ],
};
