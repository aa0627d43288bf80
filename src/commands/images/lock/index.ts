// imgctl images lock: the commands that lock images by name in a file.

import type { CommandDeclaration } from '../../../cli/command-types.ts';
import { lockAdd } from './add.ts';
import { lockCheck } from './check.ts';
import { lockList } from './list.ts';
import { lockRemove } from './remove.ts';
import { lockUpdate } from './update.ts';

export const imagesLock: CommandDeclaration = {
  name: 'lock',
  summary: 'lock images by name in a file',
  description: [
    'A lock file stores a query and its newest image under each name, and the address of the service. Commit it, so that every build uses the same images. It works only with that service, because ids mean other images elsewhere.',
  ],
  examples: [
    'imgctl images lock add web ubuntu 22.04 server',
    'imgctl images get --lock web --get path',
    'imgctl images lock check',
  ],
  seeAlso: ['images get', 'images latest', 'help choosing'],
  subcommands: [lockAdd, lockList, lockCheck, lockUpdate, lockRemove],
};
