// The tools that a client can call: their arguments, and the command line that each one runs.

import * as z from 'zod';
import { FIELDS } from '../query/fields.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  /** True if it changes the service. */
  readonly mutates?: boolean;
  /** The command that it runs. */
  readonly command: readonly string[];
}

/** Rows of a list, without `limit`. */
export const DEFAULT_LIMIT = 50;

const texts = (description: string) => z.array(z.string()).describe(description);

/** What tools are called with; each tool takes some of them. */
const ARGUMENTS = z
  .strictObject({
    text: texts('only images whose name contains every word'),
    filter: texts(
      'field,op,value; op: eq ne lt le gt ge like in; like takes % as wildcard; times also as -30d; all must match',
    ),
    sort: texts('field,asc or field,desc, most significant first'),
    columns: texts(`fields to show: any of ${FIELDS.join(', ')}`),
    images: texts('ids, names, paths, labels or URLs'),
    limit: z.int().min(1).max(200).describe('maximum number of rows (50)'),
    each: z.boolean().describe('show the newest image of every series instead'),
    id: z.string().describe('id of the request (the last one)'),
    list: z.boolean().describe('list the requests of this machine instead'),
    file: z.string().describe('path of an OVA or OVF'),
  })
  .partial();

export type Given = z.infer<typeof ARGUMENTS>;

const LISTING = ARGUMENTS.pick({
  text: true,
  filter: true,
  sort: true,
  columns: true,
  limit: true,
});

/** Enough to tell images apart; all fields would make an answer twice as long. */
const DEFAULT_COLUMNS = ['id', 'name', 'path', 'updated_on'];

const TOOLS: readonly Tool[] = [
  {
    name: 'images_list',
    description: 'List public images. Returns the total; narrow it with text or filter.',
    input: LISTING,
    command: ['images', 'list'],
  },
  {
    name: 'images_get',
    description: 'Show public images with all fields.',
    input: ARGUMENTS.pick({ images: true, columns: true }).required({ images: true }),
    command: ['images', 'get'],
  },
  {
    name: 'images_latest',
    description:
      'Show the newest public image, by the numbers in its name. If several series match, an error lists them.',
    input: ARGUMENTS.pick({ filter: true, each: true, columns: true }).extend({
      text: texts('the name matches every word; 8 means 8 or 8.10, not 18').optional(),
    }),
    command: ['images', 'latest'],
  },
  {
    name: 'my_images',
    description: 'List your own images. Returns the total; narrow it with text or filter.',
    input: LISTING,
    command: ['my-images'],
  },
  {
    name: 'sync_status',
    description: 'Show a sync request: state waiting, succeeded or failed, with its errors.',
    input: ARGUMENTS.pick({ id: true, list: true }),
    command: ['sync-status'],
  },
  {
    name: 'package_inspect',
    description: 'Show what a local OVA or OVF contains and what is wrong with it.',
    input: ARGUMENTS.pick({ file: true }).required(),
    command: ['inspect'],
  },
  {
    name: 'sync',
    description:
      'Submit an image sync after an upload: adds and deletes your own images. Then follow it with sync_status.',
    input: z.strictObject({}),
    mutates: true,
    command: ['sync'],
  },
];

export function toolsFor(allowSync: boolean): readonly Tool[] {
  return TOOLS.filter(({ mutates }) => allowSync || !mutates);
}

/**
 * Returns the options and arguments of a tool's command. The limit is no option: the total needs every match.
 * Values are joined to their option, since they may begin with a dash.
 */
export function wordsOf({ input }: Tool, given: Given): readonly string[] {
  const columns = given.columns ?? (input === LISTING ? DEFAULT_COLUMNS : undefined);
  return [
    ...(given.filter ?? []).map((one) => `--filter=${one}`),
    ...(given.sort ?? []).map((one) => `--sort=${one}`),
    ...(columns ? [`--columns=${columns.join(',')}`] : []),
    ...(given.each ? ['--each'] : []),
    ...(given.list ? ['--list'] : []),
    '--',
    ...(given.text ?? given.images ?? [given.id ?? given.file ?? []].flat()),
  ];
}
