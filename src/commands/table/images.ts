// Declares the commands that list and show images, with the options they share.

import type { ArgumentDeclaration, OptionDeclaration } from '../../declarations.ts';
import { SETTINGS } from '../../session/settings.ts';
import { type CommandSpec, TEXT } from './spec.ts';

const WORDS: ArgumentDeclaration = {
  name: 'text',
  description: 'show only images whose name contains each text',
  variadic: true,
  value: TEXT,
};

const VIEW_OPTIONS: readonly OptionDeclaration[] = [
  {
    flags: '--columns <a,b>',
    description:
      'fields to show, in this order, or all: id, name, path, label, folder, data_store, public, created_on, updated_on',
    value: { kind: 'text', from: 'columns' },
  },
  { flags: '--no-header', description: 'omit the header line of tables, csv and tsv' },
  {
    flags: '--time <style>',
    description: `format of time stamps: ${SETTINGS.time.valid.join(', ')} (local in tables, else wire)`,
    value: { kind: 'choice', noun: 'time style', words: SETTINGS.time.valid },
  },
];

const LISTING_OPTIONS: readonly OptionDeclaration[] = [
  {
    flags: '-f, --filter <field,op,value>',
    description: 'op is eq, ne, lt, le, gt, ge, like or in; repeatable, all must match',
    value: { kind: 'text', from: 'filters' },
    repeatable: true,
  },
  {
    flags: '-s, --sort <field,direction>',
    description: 'asc or desc; repeatable, most significant first',
    value: { kind: 'text', from: 'sorts' },
    repeatable: true,
  },
  { flags: '--limit <n>', description: 'show at most n images', value: { kind: 'number', min: 1 } },
  { flags: '--fail-empty', description: 'exit with 5 if nothing matches' },
  { flags: '--meta', description: 'json and yaml: {"data": [...], "meta": {...}}' },
  ...VIEW_OPTIONS,
];

export const images: CommandSpec = {
  name: 'images',
  summary: 'list and show images of the public catalogue',
  examples: ['imgctl images list ubuntu --limit 5', 'imgctl images get 1001'],
  subcommands: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'list and filter images',
      description: ['Without --limit or --page it lists every matching image.'],
      examples: [
        'imgctl images list --filter name,like,%ubuntu%',
        'imgctl images list debian --sort updated_on,desc --limit 5',
        'imgctl images list -f updated_on,ge,-30d --columns id,name,updated_on -o csv',
      ],
      seeAlso: ['images get', 'my-images', 'help filters', 'help output'],
      arguments: [WORDS],
      options: [
        ...LISTING_OPTIONS,
        {
          flags: '--page <n>',
          description: 'show exactly this page of the service',
          value: { kind: 'number', min: 1 },
        },
        {
          flags: '--per-page <n>',
          description: 'page size, 1 to 100 (100)',
          value: { kind: 'number', min: 1, max: 100 },
        },
        { flags: '--urls', description: 'print one image URL per line' },
      ],
      load: async () => (await import('../images-list.ts')).run,
    },
    {
      name: 'get',
      summary: 'show images by id or name',
      description: [
        'One argument prints one JSON object, or an array if several images have that name. Several arguments print an array.',
      ],
      examples: ['imgctl images get 42', "imgctl images get 7 42 --json | jq -r '.[].path'"],
      seeAlso: ['images list', 'help output'],
      arguments: [
        {
          name: 'id|name',
          description: 'image ids, or exact names',
          required: true,
          variadic: true,
          value: { kind: 'text', from: 'images' },
        },
      ],
      options: VIEW_OPTIONS,
      load: async () => (await import('../images-get.ts')).run,
    },
  ],
};

export const myImages: CommandSpec = {
  name: 'my-images',
  summary: 'list your own images',
  examples: ['imgctl my-images', 'imgctl my-images --sort updated_on,desc --limit 1 --json'],
  seeAlso: ['images list', 'sync', 'help filters', 'help output'],
  arguments: [WORDS],
  options: LISTING_OPTIONS,
  load: async () => (await import('../my-images.ts')).run,
};
