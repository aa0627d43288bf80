// Declares the commands for packages, their sync and one's own images.

import type { ArgumentDeclaration, OptionDeclaration } from '../../declarations.ts';
import { LISTING_OPTIONS, WORDS } from './listing.ts';
import {
  type CommandSpec,
  DURATION,
  GET_OPTION,
  METRICS_OPTION,
  SERVICE_CODES,
  TEXT,
} from './spec.ts';

export const myImages: CommandSpec = {
  name: 'my-images',
  summary: 'list your own images',
  examples: ['imgctl my-images', 'imgctl my-images --sort updated_on,desc -n 1 --json'],
  seeAlso: ['images list', 'sync', 'help filters', 'help output'],
  arguments: [WORDS],
  options: LISTING_OPTIONS,
  output: 'my-images',
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../my-images.ts')).run,
};

export const POLL_OPTIONS: readonly OptionDeclaration[] = [
  {
    flags: '--poll-interval <duration>',
    description: 'fixed time between status checks, instead of 2s growing to 15s',
    value: DURATION,
  },
  {
    flags: '--wait-timeout <duration>',
    description: 'stop waiting after this time and exit with 7',
    default: '1h',
    value: DURATION,
  },
];

const WAIT_OPTIONS: readonly OptionDeclaration[] = [
  { flags: '--wait', description: 'wait until the sync finishes; exit with 1 if it fails' },
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
  value: { kind: 'text', from: 'files' },
};

export const sync: CommandSpec = {
  name: 'sync',
  summary: 'submit an image sync after an upload',
  description: [
    'The service reads your uploads, then adds or deletes images. With --wait, imgctl prints which ones. If the service does not name them, imgctl compares your images before and after the sync. The service may not know a new request at once, so --wait retries a 404 for the first minute.',
  ],
  examples: [
    'imgctl sync --wait',
    'imgctl sync --json | jq .id',
    'imgctl sync --wait --wait-timeout 10m && imgctl my-images',
  ],
  seeAlso: ['sync-status', 'my-images', 'validate'],
  options: [
    ...WAIT_OPTIONS,
    {
      flags: '--dry-run',
      description: 'show the request, check the token and list your images; submit nothing',
      conflicts: ['get'],
    },
    METRICS_OPTION,
    GET_OPTION,
  ],
  mutates: true,
  output: 'sync',
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
    {
      flags: '--list',
      description: 'list the requests submitted from this machine with this profile, newest first',
      conflicts: ['wait', 'pollInterval', 'waitTimeout'],
    },
    GET_OPTION,
  ],
  output: 'sync-status',
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
  output: 'inspect',
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
    {
      flags: '--max-hardware <version>',
      description:
        'warn about newer virtual hardware (such as vmx-13), sound cards, USB and parallel ports',
      value: TEXT,
    },
  ],
  output: 'validate',
  exitCodes: [5],
  load: async () => (await import('../validate.ts')).run,
};
