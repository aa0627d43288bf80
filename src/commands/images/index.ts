// imgctl images: the commands for images of the public catalogue. The way through this folder:
//
//   options.ts       readQuery makes a Query of words, --filter, --sort and --since
//   read.ts          openCatalogue opens the service, a snapshot (--from) or your own (--mine);
//                    readImages yields pages of the images that match: list, changes, snapshot;
//                    readTogether reads the images of several queries at once: latest, lock/
//   list.ts, get.ts, latest.ts, changes/, lock/   make rows of them
//   empty.ts         if no image matches: how many each condition matches, and what was meant
//   invocation.ts    commands in hints, which read the same images again
//   image-names.ts   remembers what was listed, for completion

import type { CommandDeclaration } from '../../cli/command-types.ts';
import { imagesChanges } from './changes/changes.ts';
import { imagesGet } from './get.ts';
import { imagesLatest } from './latest.ts';
import { imagesList } from './list.ts';
import { imagesLock } from './lock/index.ts';
import { imagesSnapshot } from './snapshot.ts';

export const images: CommandDeclaration = {
  name: 'images',
  otherNames: ['image'],
  summary: 'list and show images',
  examples: ['imgctl images list ubuntu -n 5', 'imgctl images get 1003'],
  subcommands: [imagesList, imagesGet, imagesLatest, imagesChanges, imagesSnapshot, imagesLock],
};
