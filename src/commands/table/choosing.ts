// Declares the commands that choose images: latest.

import { FILTER_OPTION, VIEW_OPTIONS, WORDS } from './listing.ts';
import type { CommandSpec } from './spec.ts';

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
  ],
  load: async () => (await import('../images-latest.ts')).run,
};
