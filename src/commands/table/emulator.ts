// Declares the command that runs the embedded service.

import { type CommandSpec, DURATION, TEXT } from './spec.ts';

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
    {
      flags: '--host <address>',
      description: 'address to listen on',
      default: '127.0.0.1',
      value: TEXT,
    },
    {
      flags: '--port <n>',
      description: 'port to listen on; 0 selects a free one',
      default: '8080',
      value: { kind: 'number', min: 0, max: 65_535 },
    },
    {
      flags: '--images <n>',
      description: 'number of images in the public catalogue',
      default: '250',
      value: { kind: 'number', min: 0, max: 1_000_000 },
    },
    {
      flags: '--from <file>',
      description: 'serve the images of this snapshot (see: imgctl images snapshot)',
      value: { kind: 'text', from: 'files' },
      conflicts: ['images', 'seed', 'until'],
    },
    {
      flags: '--uploads <dir>',
      description: 'folder that a sync reads, with one subfolder per user',
      value: { kind: 'text', from: 'folders' },
    },
    { flags: '--sample', description: "put a small sample.ova into the first user's uploads" },
    {
      flags: '--user <name:password>',
      description: 'add a user; repeatable',
      default: 'demo:demo',
      value: TEXT,
      repeatable: true,
    },
    {
      flags: '--denied-user <name:password>',
      description: 'add a user who is not authorized; repeatable',
      value: TEXT,
      repeatable: true,
    },
    {
      flags: '--token-ttl <duration>',
      description: 'lifetime of a token',
      default: '24h',
      value: DURATION,
    },
    {
      flags: '--token-limit <n>',
      description: 'token requests per window',
      default: '5',
      value: { kind: 'number', min: 0, max: 1_000_000 },
    },
    {
      flags: '--token-window <duration>',
      description: 'window for --token-limit',
      default: '1m',
      value: DURATION,
    },
    { flags: '--latency <duration>', description: 'delay before each response', value: DURATION },
    {
      flags: '--sync-delay <duration>',
      description: 'time that a sync takes',
      default: '2s',
      value: DURATION,
    },
    {
      flags: '--fault <spec>',
      description: "inject a fault, such as 'GET /v2/image=503,first=2'; repeatable",
      value: TEXT,
      repeatable: true,
    },
    {
      flags: '--until <date>',
      description: 'last day of the catalogue, such as 2025-07-31 (today)',
      value: TEXT,
    },
    {
      flags: '--seed <n>',
      description: 'seed for the generated catalogue',
      default: '1',
      value: { kind: 'number', min: 0, max: 2 ** 31 },
    },
  ],
  load: async () => (await import('../emulator.ts')).run,
};
