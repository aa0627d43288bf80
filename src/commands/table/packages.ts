// Declares the commands for packages and their sync: sync, sync-status, inspect and validate.

import type { ArgumentDeclaration, OptionDeclaration } from '../../declarations.ts';
import { type CommandSpec, DURATION } from './spec.ts';

const WAIT_OPTIONS: readonly OptionDeclaration[] = [
  { flags: '--wait', description: 'wait until the sync finishes; exit with 1 if it fails' },
  {
    flags: '--poll-interval <duration>',
    description: 'fixed time between status checks (2s growing to 15s)',
    value: DURATION,
    implies: { wait: true },
  },
  {
    flags: '--wait-timeout <duration>',
    description: 'stop waiting after this time and exit with 7 (1h)',
    value: DURATION,
    implies: { wait: true },
  },
];

const FILES: ArgumentDeclaration = {
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
    'The service reads your uploads, then adds or deletes images. With --wait, imgctl prints which ones. If the service does not name them, imgctl compares your images before and after the sync.',
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
      description: 'show the request, check the token, list your images; change nothing',
    },
  ],
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
    'imgctl sync-status 41 --wait --json',
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
  ],
  load: async () => (await import('../sync-status.ts')).run,
};

export const inspect: CommandSpec = {
  name: 'inspect',
  summary: 'show the contents of a local OVA or OVF package',
  description: [
    'Shows products, systems with their hardware, disks, networks and files. Sends nothing. Sizes are in bytes in every format except tables. With -o json, one file prints one object, several print an array. Digests are not checked; use imgctl validate for that.',
  ],
  examples: [
    'imgctl inspect appliance.ova',
    "imgctl inspect appliance.ovf --json | jq '.systems[].hardware.memory'",
  ],
  seeAlso: ['validate'],
  arguments: [FILES],
  load: async () => (await import('../inspect.ts')).run,
};

export const validate: CommandSpec = {
  name: 'validate',
  summary: 'check a local OVA or OVF package before an upload',
  description: [
    'Checks structure, references, sizes, disks and the digests of the manifest, so it reads every byte. Sends nothing. Each finding has a severity (error or warning), a stable code and a place. Exits with 1 if there are errors. With -q it prints only the codes.',
  ],
  examples: [
    'imgctl validate appliance.ova',
    'imgctl validate *.ova --json | jq -r \'.[] | select(.severity == "error") | .code\'',
    'imgctl validate appliance.ova && cp appliance.ova /mnt/uploads/ && imgctl sync --wait',
  ],
  seeAlso: ['inspect', 'sync'],
  arguments: [FILES],
  load: async () => (await import('../validate.ts')).run,
};
