// The tools that a client can call: their schemas, and the command line that each one runs.

import { type ArgumentSchema, check, type ToolArguments } from './arguments.ts';

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly arguments: Readonly<Record<string, ArgumentSchema>>;
  readonly required?: readonly string[];
  /** True if it changes the service. */
  readonly mutates?: boolean;
  /** True if it takes limit and offset. */
  readonly paged?: boolean;
  /** True if the service may count the rows, so that not all of them have to be read. */
  readonly countsCheaply?: boolean;
  /** The hint of its notes, for a client that runs no commands. */
  readonly next?: string;
  /** The command that it runs. */
  readonly command: readonly string[];
  /** Returns the options and arguments of the command. */
  words(given: ToolArguments): readonly string[];
}

const texts = (description: string): ArgumentSchema => {
  return { type: 'array', items: { type: 'string' }, description };
};

const SEARCH = {
  text: texts('only images whose name contains every text'),
  filter: texts(
    'field,op,value; op: eq ne lt le gt ge like in; like takes % as wildcard; times also as -30d; all must match',
  ),
} as const;

const COLUMNS = texts(
  'fields to show; of id, name, path, label, folder, data_store, public, created_on, updated_on',
);

const LISTING = {
  ...SEARCH,
  sort: texts('field,asc or field,desc, most significant first'),
  columns: COLUMNS,
  limit: { type: 'integer', minimum: 1, maximum: 200, description: 'page size (50)' },
  offset: { type: 'integer', minimum: 0, description: 'matches to skip (0)' },
} as const;

export const DEFAULT_LIMIT = 50;

/** Enough to tell images apart; all fields would make an answer twice as long. */
const DEFAULT_COLUMNS = ['id', 'name', 'path', 'updated_on'];

const READING_TOOLS: readonly Tool[] = [
  {
    name: 'images_list',
    description: 'List public images. Returns the total; narrow it with text or filter.',
    arguments: LISTING,
    paged: true,
    countsCheaply: true,
    command: ['images', 'list'],
    words: listing,
  },
  {
    name: 'images_get',
    description: 'Show public images with all fields.',
    arguments: { images: texts('ids, names, paths, labels or URLs'), columns: COLUMNS },
    required: ['images'],
    command: ['images', 'get'],
    words: ({ images = [], columns }) => [
      ...option('columns', columns?.join(',')),
      '--',
      ...images,
    ],
  },
  {
    name: 'images_latest',
    description:
      'Show the newest public image, by the numbers in its name. If several series match, an error lists them.',
    arguments: {
      ...SEARCH,
      each: { type: 'boolean', description: 'show the newest image of every series instead' },
      columns: COLUMNS,
    },
    command: ['images', 'latest'],
    words: ({ text = [], each, columns, ...given }) => [
      ...filters(given),
      ...(each ? ['--each'] : []),
      ...option('columns', columns?.join(',')),
      '--',
      ...text,
    ],
  },
  {
    name: 'my_images',
    description: 'List your own images. Returns the total; narrow it with text or filter.',
    arguments: LISTING,
    paged: true,
    command: ['my-images'],
    words: listing,
  },
  {
    name: 'sync_status',
    description: 'Show a sync request: state waiting, succeeded or failed, with its errors.',
    arguments: {
      id: { type: 'string', description: 'id of the request (the last one)' },
      list: { type: 'boolean', description: 'list the requests of this machine instead' },
    },
    command: ['sync-status'],
    words: ({ id, list }) => [...(list ? ['--list'] : []), '--', ...(id === undefined ? [] : [id])],
  },
  {
    name: 'package_inspect',
    description: 'Show what a local OVA or OVF contains and what is wrong with it.',
    arguments: { file: { type: 'string', description: 'path of an OVA or OVF' } },
    required: ['file'],
    command: ['inspect'],
    words: ({ file = '' }) => ['--', file],
  },
];

const SYNC: Tool = {
  name: 'sync',
  description:
    'Submit an image sync after an upload: adds and deletes your own images. Then follow it with sync_status.',
  arguments: {},
  mutates: true,
  next: 'call sync_status',
  command: ['sync'],
  words: () => [],
};

export function toolsFor(allowSync: boolean): readonly Tool[] {
  return allowSync ? [...READING_TOOLS, SYNC] : READING_TOOLS;
}

/** Returns the words of a listing that come after the command. */
function listing({ text = [], sort = [], columns = DEFAULT_COLUMNS, ...given }: ToolArguments) {
  return [
    ...filters(given),
    ...sort.flatMap((each) => option('sort', each)),
    ...option('columns', columns.join(',')),
    '--',
    ...text,
  ];
}

function filters({ filter = [] }: ToolArguments): string[] {
  return filter.flatMap((each) => option('filter', each));
}

/** In one word, since a value may begin with a dash. */
function option(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [`--${name}=${value}`];
}

/** Returns the tool as the protocol describes it. */
export function describeTool({
  name,
  description,
  arguments: properties,
  required,
  mutates,
}: Tool) {
  return {
    name,
    description,
    inputSchema: {
      type: 'object' as const,
      properties: { ...properties },
      ...(required && { required: [...required] }),
      additionalProperties: false,
    },
    annotations: mutates ? { destructiveHint: true } : { readOnlyHint: true },
  };
}

/** @throws ImgctlError usage */
export function checkArguments(tool: Tool, given: unknown): ToolArguments {
  return check(tool.name, tool.arguments, tool.required ?? [], given);
}
