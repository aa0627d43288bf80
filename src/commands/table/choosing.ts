// Declares the commands that choose and save images: latest and snapshot.

import { FILTER_OPTION, SOURCE_OPTIONS, VIEW_OPTIONS, WORDS } from './listing.ts';
import { type CommandSpec, SERVICE_CODES } from './spec.ts';

export const latest: CommandSpec = {
  name: 'latest',
  summary: 'show the newest image of a series',
  description: [
    'Names with the same text and other numbers form a series. The numbers decide which image is newer: 8.10 is newer than 8.9. The time of the last update never decides; created_on decides between equal names.',
    'Exits with 2 if several series match, and lists them. Exits with 5 if nothing matches.',
  ],
  examples: [
    'imgctl images latest ubuntu server',
    'imgctl images latest ubuntu 22.04 server --get path',
    'imgctl images latest debian --each',
    'imgctl images latest rocky GenericCloud-Base --explain',
  ],
  seeAlso: ['images list', 'images get', 'help filters'],
  arguments: [WORDS],
  options: [
    FILTER_OPTION,
    { flags: '--each', description: 'show the newest image of every series' },
    {
      flags: '--explain',
      description: 'show all candidates with their series and version, the newest first',
      conflicts: ['each', 'get', 'columns'],
    },
    ...VIEW_OPTIONS,
    ...SOURCE_OPTIONS,
  ],
  output: 'images-latest',
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../images-latest.ts')).run,
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
  seeAlso: ['images list', 'images latest', 'emulator'],
  options: [
    {
      flags: '--file <file>',
      description: 'file to replace (standard output)',
      value: { kind: 'text', from: 'files' },
    },
  ],
  mutates: true,
  output: 'images-snapshot',
  exitCodes: SERVICE_CODES,
  load: async () => (await import('../images-snapshot.ts')).run,
};
