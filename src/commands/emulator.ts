// imgctl emulator: runs the embedded service on this machine until it is terminated.

import fs from 'node:fs';
import path from 'node:path';
import type { Image } from '../api/types.ts';
import type { Context } from '../context.ts';
import { type Fault, parseFault } from '../emulator/faults.ts';
import { sampleOva } from '../emulator/sample-ova.ts';
import { startEmulator } from '../emulator/service.ts';
import type { EmulatorOptions, User } from '../emulator/service-options.ts';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { shellQuote } from '../output/messages.ts';
import { parseTimeValue } from '../query/timestamp.ts';

type Parsed =
  | 'catalogue'
  | 'until'
  | 'users'
  | 'deniedUsers'
  | 'faults'
  | 'log'
  | 'onRequest'
  | 'now';

interface EmulatorCommandOptions extends Omit<EmulatorOptions, Parsed> {
  from?: string;
  until?: string;
  user?: string[];
  deniedUser?: string[];
  fault?: string[];
  sample?: boolean;
}

export async function run(context: Context, options: EmulatorCommandOptions): Promise<void> {
  const { io } = context;
  const {
    host = '127.0.0.1',
    port = 8080,
    uploads,
    sample,
    user,
    deniedUser,
    fault,
    from,
    until,
    ...rest
  } = options;
  const users = user?.map(parseUser);
  const deniedUsers = deniedUser?.map(parseUser);
  const faults = fault?.map(readFault);
  if (sample && uploads === undefined) {
    throw new ImgctlError('usage', '--sample needs --uploads', {
      hint: 'name a folder with: imgctl emulator --uploads ./uploads --sample',
    });
  }
  const folder = path.join(uploads ?? '', users?.[0]?.name ?? 'demo');
  if (uploads !== undefined && !sample && !fs.existsSync(path.resolve(io.cwd, uploads))) {
    const hint = `create it with: mkdir -p ${shellQuote(folder)}`;
    context.console.warn(`folder ${uploads} does not exist`, hint);
  }
  const catalogue = from === undefined ? undefined : await readImages(context, from);
  const emulator = await startEmulator({
    ...rest,
    now: io.now,
    until: until === undefined ? undefined : parseDay(until),
    host,
    port,
    catalogue,
    uploads: uploads && path.resolve(io.cwd, uploads),
    users,
    deniedUsers,
    faults,
    log: (line) => context.console.note(line),
  }).catch((error: NodeJS.ErrnoException) => {
    const { code, message } = error;
    const isUsed = code === 'EADDRINUSE';
    const reason = isUsed ? 'another program uses that port' : code;
    const hint = isUsed ? 'use a free port with: imgctl emulator --port 0' : undefined;
    const problem = code === undefined ? message : `cannot listen on ${host}:${port}: ${reason}`;
    throw new ImgctlError('usage', problem, { hint, cause: error });
  });
  try {
    if (sample) writeSample(path.resolve(io.cwd, folder));
    const { baseUrl, uploadUrl } = emulator;
    // Without a folder for uploads there is no upload_url.
    const addresses = JSON.stringify({ base_url: baseUrl, upload_url: uploadUrl });
    await context.console.print(`${addresses}\n`);
    if (io.stderr.isTTY) explain(context, baseUrl, users?.[0]);
    await new Promise<void>((resolve) => {
      if (io.signal.aborted) resolve();
      io.signal.addEventListener('abort', () => resolve(), { once: true });
    });
  } finally {
    await emulator.close();
  }
}

/** Leaves a file of that name as it is. */
function writeSample(folder: string): void {
  const file = path.join(folder, 'sample.ova');
  try {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(file, sampleOva(), { flag: 'wx' });
  } catch (cause) {
    const reason = errorReason(cause);
    if (reason !== 'EEXIST')
      throw new ImgctlError('config', `cannot write ${file}: ${reason}`, { cause });
  }
}

/** For people; programs read stdout. */
function explain({ console }: Context, baseUrl: string, user: User | undefined): void {
  const { name } = user ?? { name: 'demo' };
  const login = `imgctl login --base-url ${baseUrl} -u ${name}`;
  console.note(`log in from another terminal: ${login}${user ? '' : ' (password: demo)'}`);
  console.note('stop the service with Ctrl-C');
}

function parseDay(text: string): number {
  const day = /^\d{4}-\d\d-\d\d$/.test(text) ? parseTimeValue(text, 0) : undefined;
  if (day !== undefined) return day;
  throw new ImgctlError('usage', `--until must be a date (got ${text})`, {
    hint: 'use a date such as 2025-07-31',
  });
}

async function readImages(context: Context, file: string): Promise<readonly Partial<Image>[]> {
  const { readSnapshot } = await import('./source.ts');
  const snapshot = await readSnapshot(context, file);
  return (await snapshot.images()) as readonly Partial<Image>[];
}

function parseUser(text: string): User {
  const at = text.indexOf(':');
  if (at > 0 && at < text.length - 1)
    return { name: text.slice(0, at), password: text.slice(at + 1) };
  throw new ImgctlError('usage', 'a user must be name:password', {
    hint: 'use a user such as: imgctl emulator --user alice:secret',
  });
}

function readFault(text: string): Fault {
  try {
    return parseFault(text);
  } catch (error) {
    throw new ImgctlError('usage', (error as Error).message, {
      hint: 'list the kinds of faults with: imgctl emulator --help',
    });
  }
}
