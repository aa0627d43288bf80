// Declares the commands for images of the catalogue.

import { changes, latest, snapshot } from './choosing.ts';
import { IMAGE_FIELDS, LISTING_OPTIONS, SOURCE_OPTIONS, VIEW_OPTIONS, WORDS } from './listing.ts';
import { LOCK_FILE_OPTION, lock } from './locking.ts';
import { type CommandSpec, option, SERVICE_CODES } from './spec.ts';

export const images: CommandSpec = {
  name: 'images',
  summary: 'list and show images of the public catalogue',
  examples: ['imgctl images list ubuntu -n 5', 'imgctl images get 1003'],
  subcommands: [
    {
      name: 'list',
      aliases: ['ls'],
      summary: 'list and filter images',
      description: [
        'Lists every matching image, unless you use --limit or --page.',
        'Words are searched as text, so 8 also finds x86_64. "images latest" matches them with whole numbers: there, 8 means 8 or 8.10.',
      ],
      examples: [
        'imgctl images list --filter name,like,%ubuntu%',
        'imgctl images list debian --sort updated_on,desc -n 5',
        'imgctl images list --since 30d -c id,name,updated_on -o csv',
      ],
      seeAlso: ['images get', 'my-images', 'help filters', 'help output'],
      arguments: [WORDS],
      options: [
        ...LISTING_OPTIONS,
        option('--page <n>', "show only this page of the service's list", {
          value: { kind: 'number', min: 1 },
        }),
        option('--per-page <n>', 'page size, 1 to 100', {
          default: '100',
          value: { kind: 'number', min: 1, max: 100 },
        }),
        option('--urls', 'print one image URL per line', { conflicts: ['columns'] }),
        ...SOURCE_OPTIONS,
      ],
      fields: IMAGE_FIELDS,
      exitCodes: SERVICE_CODES,
      load: async () => (await import('../images-list.ts')).run,
    },
    {
      name: 'get',
      summary: 'show images by id, name, path, label or URL',
      description: [
        "Digits are an id. Text that begins with http is a URL, with [ a path. Anything else is a name, or else a label. Quote a path, because it has a space: '[images-01] ubuntu/NAME.ova'.",
        'Exits with 2 if several images match, and lists them.',
        'With -o json, one argument prints one object; several arguments print an array.',
        'With --lock, exits with 5 if the locked image is gone, and with 1 if it was replaced; warns if it was moved.',
      ],
      examples: [
        'imgctl images get 1003',
        'imgctl images get 1003 --get path',
        "imgctl images get 1003 1006 --json | jq -r '.[].path'",
        'imgctl images get --lock web --get path',
      ],
      seeAlso: ['images list', 'images latest', 'images lock', 'help output'],
      arguments: [
        {
          name: 'id|name|path|label|url',
          description: 'images to show',
          variadic: true,
          value: { kind: 'text', from: 'images' },
        },
      ],
      options: [
        option('--lock <name>', 'show the image that is locked with this name', {
          value: { kind: 'text', from: 'locks' },
        }),
        LOCK_FILE_OPTION,
        ...VIEW_OPTIONS,
        ...SOURCE_OPTIONS,
      ],
      fields: IMAGE_FIELDS,
      exitCodes: SERVICE_CODES,
      load: async () => (await import('../images-get.ts')).run,
    },
    latest,
    changes,
    snapshot,
    lock,
  ],
};
