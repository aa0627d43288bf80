// Declares the command that runs the embedded service.

import { type CommandSpec, DURATION, option } from './spec.ts';

export const emulator: CommandSpec = {
  name: 'emulator',
  summary: 'run the embedded service on this machine',
  description: [
    'Prints one JSON line {"base_url": ...} when it is ready. Stops on SIGTERM or Ctrl-C.',
    'The same --images, --seed and --until always give the same catalogue.',
    'With --uploads, it also takes uploads and prints "upload_url". WebDAV is at /upload/, with the user name and the password. Each user has a folder of that name below <dir>.',
    'Faults: METHOD PATH=KIND[,first=N|,every=N]. METHOD may be *, and PATH may end in *. KIND is one of:',
    {
      terms: [
        ['503', 'a response with this status (300 to 599)'],
        ['429:60', 'a response with status 429 and Retry-After: 60'],
        ['drop', 'close the connection without a response'],
        ['stall', 'keep the connection open without a response'],
        ['drip', 'send the response byte by byte'],
        ['html', 'an HTML page instead of the response'],
        ['truncate', 'the response without its end'],
        ['drop:4096', 'close the connection after 4096 bytes of an upload'],
        ['late:401', 'this status, but only after the whole upload'],
        ['partial', 'show an uploaded file before it is complete'],
      ],
    },
  ],
  examples: [
    'imgctl emulator --port 0 --images 1000',
    'imgctl emulator --from catalogue.json',
    'imgctl emulator --uploads ./uploads --sample',
    'imgctl emulator --uploads ./uploads --sync-delay 5s --user alice:secret',
    "imgctl emulator --fault 'GET /v2/image=503,first=2' --fault 'PATCH /v2/*=drop'",
  ],
  seeAlso: ['demo'],
  options: [
    option('--host <address>', 'address to listen on', { default: '127.0.0.1' }),
    option('--port <n>', 'port to listen on; 0 selects a free one', {
      default: '8080',
      value: { kind: 'number', min: 0, max: 65_535 },
    }),
    option('--images <n>', 'number of images in the public catalogue', {
      default: '250',
      value: { kind: 'number', min: 0, max: 1_000_000 },
    }),
    option('--from <file>', 'serve the images of this snapshot (see: imgctl images snapshot)', {
      value: { kind: 'text', from: 'files' },
      conflicts: ['images', 'seed', 'until'],
    }),
    option('--uploads <dir>', 'folder that a sync reads, with one subfolder per user', {
      value: { kind: 'text', from: 'folders' },
    }),
    option('--sample', "put a small sample.ova into the first user's uploads"),
    option('--user <name:password>', 'add a user; repeatable', {
      default: 'demo:demo',
      repeatable: true,
    }),
    option('--denied-user <name:password>', 'add a user who is not authorized; repeatable', {
      repeatable: true,
    }),
    option('--token-ttl <duration>', 'lifetime of a token', { default: '24h', value: DURATION }),
    option('--token-limit <n>', 'token requests per window', {
      default: '5',
      value: { kind: 'number', min: 0, max: 1_000_000 },
    }),
    option('--token-window <duration>', 'window for --token-limit', {
      default: '1m',
      value: DURATION,
    }),
    option('--latency <duration>', 'delay before each response', { value: DURATION }),
    option('--sync-delay <duration>', 'time that a sync takes', { default: '2s', value: DURATION }),
    option('--fault <spec>', "inject a fault, such as 'GET /v2/image=503,first=2'; repeatable", {
      repeatable: true,
    }),
    option('--until <date>', 'last day of the catalogue, such as 2025-07-31 (today)'),
    option('--seed <n>', 'seed for the generated catalogue', {
      default: '1',
      value: { kind: 'number', min: 0, max: 2 ** 31 },
    }),
  ],
  load: async () => (await import('../emulator.ts')).run,
};
