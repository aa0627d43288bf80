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

interface EmulatorCommandOptions extends Omit<EmulatorOptions, 'until' | 'now'> {
  from?: string;
  until?: string;
  user?: string[];
  deniedUser?: string[];
  fault?: string[];
  sample?: boolean;
}

export async function run(context: Context, options: EmulatorCommandOptions): Promise<void> {
  const { io, console } = context;
  const { host = '127.0.0.1', port = 8080, uploads, sample, from, until, ...rest } = options;
  const { user, deniedUser, fault, ...settings } = rest;
  const users = user?.map(parseUser);
  if (sample && uploads === undefined) {
    throw new ImgctlError('usage', '--sample needs --uploads', {
      hint: 'name a folder with: imgctl emulator --uploads ./uploads --sample',
    });
  }
  const { name } = users?.[0] ?? { name: 'demo' };
  const folder = path.join(uploads ?? '', name);
  if (uploads !== undefined && !sample && !fs.existsSync(path.resolve(io.cwd, uploads))) {
    const hint = `create it with: mkdir -p ${shellQuote(folder)}`;
    console.warn(`folder ${uploads} does not exist`, hint);
  }
  const emulator = await startEmulator({
    ...settings,
    now: io.now,
    until: until === undefined ? undefined : parseDay(until),
    host,
    port,
    catalogue: from === undefined ? undefined : await readImages(context, from),
    uploads: uploads && path.resolve(io.cwd, uploads),
    users,
    deniedUsers: deniedUser?.map(parseUser),
    faults: fault?.map(readFault),
    log: (line) => console.note(line),
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
    await console.print(`${JSON.stringify({ base_url: baseUrl, upload_url: uploadUrl })}\n`);
    // For people; programs read stdout.
    if (io.stderr.isTTY) {
      const login = `imgctl login --base-url ${baseUrl} -u ${name}`;
      console.note(`log in from another terminal: ${login}${users ? '' : ' (password: demo)'}`);
      console.note('stop the service with Ctrl-C');
    }
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
  const [, name, password] = /^([^:]+):(.+)$/s.exec(text) ?? [];
  if (name !== undefined && password !== undefined) return { name, password };
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
