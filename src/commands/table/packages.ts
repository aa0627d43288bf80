// Declares the commands for packages, their sync and one's own images.

import type {
  ArgumentDeclaration,
  FieldDeclaration,
  OptionDeclaration,
} from '../../declarations.ts';
import { IMAGE_FIELDS, LISTING_OPTIONS, WORDS } from './listing.ts';
import {
  type CommandSpec,
  DURATION,
  GET_OPTION,
  METRICS_OPTION,
  option,
  SERVICE_CODES,
} from './spec.ts';

export const myImages: CommandSpec = {
  name: 'my-images',
  summary: 'list your own images',
  examples: ['imgctl my-images', 'imgctl my-images --sort updated_on,desc -n 1 --json'],
  seeAlso: ['images list', 'sync', 'help filters', 'help output'],
  arguments: [WORDS],
  options: LISTING_OPTIONS,
  fields: IMAGE_FIELDS,
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../my-images.ts')).run,
};

export const POLL_OPTIONS: readonly OptionDeclaration[] = [
  option(
    '--poll-interval <duration>',
    'fixed time between status checks, instead of 2s growing to 15s',
    { value: DURATION },
  ),
  option('--wait-timeout <duration>', 'stop waiting after this time and exit with 7', {
    default: '1h',
    value: DURATION,
  }),
];

const WAIT_OPTIONS: readonly OptionDeclaration[] = [
  option('--wait', 'wait until the sync finishes; exit with 1 if it fails'),
  ...POLL_OPTIONS.map((option) => ({
    ...option,
    description: `${option.description}; implies --wait`,
    implies: { wait: true },
  })),
];

export const FILES: ArgumentDeclaration = {
  name: 'file',
  description: 'OVA files, or OVF files with their disks in the same folder',
  required: true,
  variadic: true,
  value: { kind: 'text', from: 'packages' },
};

const SYNC_ID = 'identifier of the sync request, as the service sent it';

/** The fields of a sync request that was submitted, without --wait. */
export const SUBMITTED_FIELDS: readonly FieldDeclaration[] = [
  ['id', 'number or string', SYNC_ID],
  ['status', 'string or null', 'status word of the service'],
  ['url', 'string', 'URL of the sync request'],
  ['message', 'string or null', 'message of the service'],
  ['response', 'object, array, string or null', 'the body that the service sent'],
];

/** The fields of a sync request that was read. */
const STATUS_FIELDS: readonly FieldDeclaration[] = [
  ['id', 'number or string', SYNC_ID],
  ['status', 'string or null', 'status word of the service'],
  ['state', 'string', 'waiting, succeeded or failed'],
  ['added', 'array, number or null', 'added images: their names, or how many'],
  ['deleted', 'array, number or null', 'deleted images: their names, or how many'],
  ['errors', 'array', 'errors of the service'],
  ['warnings', 'array', 'warnings of the service'],
  ['created_on', 'string or null', 'when it was submitted, as the service writes it'],
  ['updated_on', 'string or null', 'when it last changed, as the service writes it'],
  ['response', 'object', 'the body that the service sent'],
];

const withWait = STATUS_FIELDS.filter(
  ([name]) => !SUBMITTED_FIELDS.some(([submitted]) => submitted === name),
);

export const sync: CommandSpec = {
  name: 'sync',
  summary: 'submit an image sync after an upload',
  description: [
    'The service reads your uploads, then adds or deletes images. With --wait, imgctl prints them as the service reports them, by name or by number. The service may not know a new request at once, so --wait retries a 404 for the first minute.',
  ],
  examples: [
    'imgctl sync --wait',
    'imgctl sync --json | jq .id',
    'imgctl sync --wait --wait-timeout 10m && imgctl my-images',
  ],
  seeAlso: ['sync-status', 'my-images', 'validate'],
  options: [
    ...WAIT_OPTIONS,
    option('--dry-run', 'show the request, check the token and list your images; submit nothing', {
      conflicts: ['get'],
    }),
    METRICS_OPTION,
    GET_OPTION,
  ],
  mutates: true,
  fields: [
    ...SUBMITTED_FIELDS,
    ...withWait.map(([name, type, meaning]) => [name, type, `with --wait: ${meaning}`] as const),
    ['method', 'string', 'with --dry-run: HTTP method that a sync would send'],
    ['images', 'array', 'with --dry-run: names of your images'],
  ],
  exitCodes: [...SERVICE_CODES, 7],
  load: async () => (await import('../sync.ts')).run,
};

export const syncStatus: CommandSpec = {
  name: 'sync-status',
  summary: 'show or follow a sync request',
  description: [
    'Exits with 1 if the request failed. --list does not contact the service; it shows the last known status.',
  ],
  examples: [
    'imgctl sync-status',
    'imgctl sync-status 1 --wait --json',
    'imgctl sync-status --list',
  ],
  seeAlso: ['sync'],
  arguments: [
    {
      name: 'id',
      description: 'id of the sync request (the last one submitted with this profile)',
      value: { kind: 'text', from: 'sync-ids' },
    },
  ],
  options: [
    ...WAIT_OPTIONS,
    option(
      '--list',
      'list the requests submitted from this machine with this profile, newest first',
      { conflicts: ['wait', 'pollInterval', 'waitTimeout'] },
    ),
    GET_OPTION,
  ],
  fields: [
    ...STATUS_FIELDS,
    ['submitted_on', 'string', 'with --list: when it was submitted, in UTC (ISO 8601)'],
    ['base_url', 'string', 'with --list: address of the service'],
  ],
  exitCodes: [...SERVICE_CODES, 7],
  load: async () => (await import('../sync-status.ts')).run,
};

export const inspect: CommandSpec = {
  name: 'inspect',
  summary: 'show the contents of a local OVA or OVF package',
  description: [
    'Shows products, systems with their hardware, disks, networks and files. Sends nothing. Sizes are in bytes in every format except tables. With -o json, one file prints one object; several files print an array. Does not check digests; use imgctl validate for that.',
  ],
  examples: [
    'imgctl inspect appliance.ova',
    "imgctl inspect appliance.ovf --json | jq '.systems[].hardware.memory'",
  ],
  seeAlso: ['validate'],
  arguments: [FILES],
  fields: [
    ['kind', 'string', 'ova (archive) or ovf (descriptor with its files)'],
    ['file', 'string', 'path as given'],
    ['ovf_version', 'string or null', 'version of OVF; null if there is no readable descriptor'],
    ['products', 'array', 'product, vendor, version, full_version, number of properties'],
    ['systems', 'array', 'virtual machines: id, name, operating_system, hardware and others'],
    ['disks', 'array', 'virtual disks: id, capacity in bytes, format, file'],
    ['networks', 'array', 'name and description'],
    ['deployment_options', 'array', 'id, label, description, default'],
    ['files', 'array', 'files of the package: name, size in bytes, role'],
    ['manifest', 'object or null', 'algorithm of the first entry, and the entries'],
    ['certificate', 'string or null', 'file name of the certificate'],
    ['findings', 'array', 'findings as of validate, without digests'],
  ],
  exitCodes: [5],
  load: async () => (await import('../inspect.ts')).run,
};

export const validate: CommandSpec = {
  name: 'validate',
  summary: 'check a local OVA or OVF package before an upload',
  description: [
    'Checks structure, references, sizes, disks and manifest digests. Reads every byte and sends nothing. Each finding has a severity (error or warning), a stable code and a place. Exits with 1 if there are errors. With -q, prints only the codes.',
  ],
  examples: [
    'imgctl validate appliance.ova',
    'imgctl validate *.ova --json | jq -r \'.[] | select(.severity == "error") | .code\'',
    'imgctl validate appliance.ova --max-hardware vmx-13',
  ],
  seeAlso: ['inspect', 'push'],
  arguments: [FILES],
  options: [
    option(
      '--max-hardware <version>',
      'warn about newer virtual hardware (such as vmx-13), sound cards, USB and parallel ports',
    ),
  ],
  fields: [
    ['file', 'string', 'path as given'],
    ['severity', 'string', 'error or warning; an error makes the package invalid'],
    ['code', 'string', 'stable code of the finding'],
    ['place', 'string', 'where in the package it was found'],
    ['message', 'string', 'what is wrong'],
  ],
  exitCodes: [5],
  load: async () => (await import('../validate.ts')).run,
};
