// imgctl emulator: the embedded service on this machine, until it is told to end.

import fs from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { type Fault, parseFault } from '../emulator/faults.ts';
import type { User } from '../emulator/options.ts';
import { startEmulator } from '../emulator/server.ts';
import { ImgctlError } from '../errors.ts';
import { shellWord } from '../output/index.ts';
import { durationOption, numberOption } from './options.ts';

interface EmulatorCommandOptions {
  host?: string;
  port?: number;
  images?: number;
  uploads?: string;
  user?: User[];
  deniedUser?: User[];
  tokenTtl?: number;
  tokenLimit?: number;
  tokenWindow?: number;
  latency?: number;
  syncDelay?: number;
  fault?: Fault[];
  seed?: number;
}

export function define(command: Command, context: Context): void {
  command
    .option('--host <address>', 'address to listen on (127.0.0.1)')
    .addOption(
      numberOption('--port <n>', 'port to listen on; 0 lets the system choose (8080)', 0, 65_535),
    )
    .addOption(numberOption('--images <n>', 'size of the public catalogue (250)', 0, 1_000_000))
    .option('--uploads <dir>', 'folder with one sub-folder for each user, read by a sync')
    .option('--user <name:password>', 'who may log in; repeatable (demo:demo)', addUser)
    .option(
      '--denied-user <name:password>',
      'has an account, but no permission; repeatable',
      addUser,
    )
    .addOption(durationOption('--token-ttl <duration>', 'lifetime of a token (24h)'))
    .addOption(numberOption('--token-limit <n>', 'token requests in a window (5)', 0, 1_000_000))
    .addOption(durationOption('--token-window <duration>', 'length of that window (1m)'))
    .addOption(durationOption('--latency <duration>', 'wait before each answer'))
    .addOption(
      durationOption('--sync-delay <duration>', 'from the submit of a sync to its end (2s)'),
    )
    .option(
      '--fault <spec>',
      "misbehave, such as 'GET /v2/image=503,first=2'; repeatable",
      addFault,
    )
    .addOption(numberOption('--seed <n>', 'chooses the catalogue (1)', 0, 2 ** 31))
    .addHelpText('after', EXAMPLES)
    .action((options: EmulatorCommandOptions) => emulate(context, options));
}

const EXAMPLES = `
Prints one JSON line {"base_url": ...} when it is ready; ends on SIGTERM or Ctrl-C.

Faults: METHOD PATH=KIND[,first=N|,every=N]. METHOD may be *, PATH may end in *. KIND is a status, drop,
stall, drip, html, truncate, or 429:SECONDS.

Examples:
  $ imgctl emulator --port 0 --images 1000
  $ imgctl emulator --uploads ./uploads --sync-delay 5s --user alice:secret
  $ imgctl emulator --fault 'GET /v2/image=503,first=2' --fault 'PATCH /v2/*=drop'
`;

async function emulate(context: Context, options: EmulatorCommandOptions): Promise<void> {
  const { io } = context;
  const { host = '127.0.0.1', port = 8080, uploads, ...others } = options;
  const { user: users, deniedUser: deniedUsers, fault: faults, ...rest } = others;
  if (uploads !== undefined && !fs.existsSync(path.resolve(io.cwd, uploads))) {
    const folder = path.join(uploads, users?.[0]?.name ?? 'demo');
    context.warn(
      `folder ${uploads} does not exist`,
      `create it with: mkdir -p ${shellWord(folder)}`,
    );
  }
  const emulator = await startEmulator({
    ...rest,
    host,
    port,
    uploads: uploads && path.resolve(io.cwd, uploads),
    users,
    deniedUsers,
    faults,
    log: (line) => context.note(line),
  }).catch((error: NodeJS.ErrnoException) => {
    const reason =
      error.code === undefined ? error.message : `cannot listen on ${host}:${port}: ${error.code}`;
    const hint =
      error.code === 'EADDRINUSE' ? 'use a free port with: imgctl emulator --port 0' : undefined;
    throw new ImgctlError('usage', reason, { hint, cause: error });
  });
  try {
    await context.print(`${JSON.stringify({ base_url: emulator.baseUrl })}\n`);
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve();
      io.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    await emulator.close();
  }
}

function addUser(text: string, previous: User[] = []): User[] {
  const at = text.indexOf(':');
  if (at > 0 && at < text.length - 1)
    return [...previous, { name: text.slice(0, at), password: text.slice(at + 1) }];
  throw new ImgctlError('usage', 'a user must be given as name:password', {
    hint: 'for example: imgctl emulator --user alice:secret',
  });
}

function addFault(text: string, previous: Fault[] = []): Fault[] {
  try {
    return [...previous, parseFault(text)];
  } catch (error) {
    throw new ImgctlError('usage', (error as Error).message, {
      hint: 'see the kinds of faults with: imgctl emulator --help',
    });
  }
}
