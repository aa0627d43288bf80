// imgctl images: the commands for images of the public catalogue.

import type { CommandSpec } from '../cli/spec.ts';
import { imagesChanges } from './images-changes.ts';
import { imagesGet } from './images-get.ts';
import { imagesLatest } from './images-latest.ts';
import { imagesList } from './images-list.ts';
import { imagesLock } from './images-lock.ts';
import { imagesSnapshot } from './images-snapshot.ts';

export const images: CommandSpec = {
  name: 'images',
  summary: 'list and show images of the public catalogue',
  examples: ['imgctl images list ubuntu -n 5', 'imgctl images get 1003'],
  subcommands: [imagesList, imagesGet, imagesLatest, imagesChanges, imagesSnapshot, imagesLock],
};
