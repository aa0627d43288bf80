// imgctl images: the commands for images of the public catalogue.

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
