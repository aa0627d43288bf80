// Declares the arguments, options and fields that the commands for images share.

import type {
  ArgumentDeclaration,
  FieldDeclaration,
  OptionDeclaration,
} from '../../declarations.ts';
import { SETTINGS } from '../../session/setting-table.ts';
import { option } from './spec.ts';

export const WORDS: ArgumentDeclaration = {
  name: 'text',
  description: 'show only images whose name contains each text',
  variadic: true,
};

export const TABLE_OPTIONS: readonly OptionDeclaration[] = [
  option('--no-header', 'omit the header line of tables, csv and tsv'),
  option('--no-trunc', 'show tables in full, even if the terminal is too narrow'),
  option(
    '--time <style>',
    `format of timestamps: ${SETTINGS.time.valid.join(', ')}; by default local in tables, else wire`,
    { value: { kind: 'choice', noun: 'time style', words: SETTINGS.time.valid } },
  ),
];

export const VIEW_OPTIONS: readonly OptionDeclaration[] = [
  option(
    '-c, --columns <a,b>',
    'fields to show, in this order (or all): id, name, path, label, folder, data_store, public, created_on, updated_on',
    { value: { kind: 'text', from: 'columns' } },
  ),
  option('--get <field>', 'print only the bare values of this field, one line per image', {
    value: { kind: 'text', from: 'fields' },
    conflicts: ['columns', 'urls', 'meta'],
  }),
  ...TABLE_OPTIONS,
];

export const FILTER_OPTION = option(
  '-f, --filter <field,op,value>',
  'show only images that match; op is eq, ne, lt, le, gt, ge, like or in; repeatable, all must match',
  { value: { kind: 'text', from: 'filters' }, repeatable: true },
);

export const LISTING_OPTIONS: readonly OptionDeclaration[] = [
  FILTER_OPTION,
  option(
    '-s, --sort <field,direction>',
    'sort by this field, asc or desc (name:version puts 8.10 after 8.9); repeatable, most significant first',
    { value: { kind: 'text', from: 'sorts' }, repeatable: true },
  ),
  option(
    '--since <duration>',
    'show only images updated within this time, such as 12h, 30d or 4w',
    { value: { kind: 'duration', isAge: true } },
  ),
  option('-n, --limit <n>', 'show at most n images', { value: { kind: 'number', min: 1 } }),
  option('--fail-empty', 'exit with 5 if nothing matches'),
  option('--meta', 'in json and yaml, print {"data": [...], "meta": {...}}'),
  ...VIEW_OPTIONS,
];

/** Reads a saved catalogue instead of the service. */
export const SOURCE_OPTIONS: readonly OptionDeclaration[] = [
  option('--from <file>', 'read this snapshot instead of the service; needs no login', {
    value: { kind: 'text', from: 'files' },
    conflicts: ['page', 'perPage'],
  }),
  option('--max-age <duration>', 'exit with 1 if the snapshot is older, such as 12h or 7d', {
    value: { kind: 'duration', isAge: true },
  }),
];

/** The fields of an image, as the service names them. */
export const IMAGE_FIELDS: readonly FieldDeclaration[] = [
  ['id', 'number', 'identifier of the image'],
  ['name', 'string', 'file name of the OVA or OVF'],
  ['path', 'string', '[data store] folder/file name'],
  ['label', 'string', 'folder/file name, or the file name alone'],
  ['folder', 'string or null', 'folder in the data store'],
  ['data_store', 'string', 'data store that holds the file'],
  ['public', 'boolean', 'true in the public catalogue, false for your own images'],
  ['created_on', 'string', 'when it was added, as the service writes it'],
  ['updated_on', 'string', 'when it was last updated, as the service writes it'],
];
