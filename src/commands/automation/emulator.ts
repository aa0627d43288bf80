// imgctl emulator: runs a small copy of the service on this machine until it is terminated.

import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import type { Image } from '../../api/types.ts';
import { command, option, type Parsed } from '../../cli/declare.ts';
import { defaultsOf } from '../../cli/option-values.ts';
import { duration, wholeNumber } from '../../config/values.ts';
import type { Context } from '../../context.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import type { User } from '../../emulator/settings.ts';
import { errorCode, errorReason, ImgctlError } from '../../errors.ts';
import { type Facts, hint, imgctl } from '../../facts.ts';
import { makeFolder } from '../../files/atomic-file.ts';
import { cannotWrite } from '../../files/user-file.ts';
import type { Io } from '../../io.ts';
import { parseTimestamp } from '../../query/timestamp.ts';
import { shellQuote } from '../../words.ts';
import { readSnapshot } from '../images/snapshot-file.ts';

const number = <const Default extends string>(fallback: Default, max: number) =>
  ({ default: fallback, value: wholeNumber(0, max) }) as const;

const DEFAULT_USER = 'demo:demo';

const OPTIONS = [
  option('--host <address>', 'address to listen on', { default: '127.0.0.1' }),
  option('--port <n>', 'port to listen on; 0 selects a free one', number('8080', 65_535)),
  option('--images <n>', 'number of images in the public catalogue', number('250', 1_000_000)),
  option('--from <file>', 'serve the images of this snapshot', {
    from: 'files',
    conflicts: ['images', 'seed', 'until'],
  }),
  option('--uploads <dir>', 'folder for uploads, with one subfolder per user', {
    from: 'folders',
  }),
  option('--sample', 'put a small sample.ova into the uploads'),
  option('--user <name:password>', 'user who can log in; repeatable', {
    default: DEFAULT_USER,
    repeatable: true,
  }),
  option('--denied-user <name:password>', 'user who may not use the API; repeatable', {
    repeatable: true,
  }),
  option('--token-ttl <duration>', 'lifetime of a token', { default: '24h', value: duration() }),
  option('--token-limit <n>', 'token requests that a user may send', number('5', 1_000_000)),
  option('--token-window <duration>', 'time until --token-limit starts again', {
    default: '1m',
    value: duration(),
  }),
  option('--latency <duration>', 'delay before each response', { value: duration() }),
  option('--sync-delay <duration>', 'duration of a sync', { default: '2s', value: duration() }),
  option('--fault <spec>', "inject a fault, such as 'GET /v2/image=503,first=2'; repeatable", {
    repeatable: true,
  }),
  option('--until <date>', 'day of the newest image (UTC), such as 2025-07-31 (today)'),
  option('--seed <n>', 'seed of the generated catalogue', number('1', 2 ** 31)),
] as const;

type Options = Parsed<typeof OPTIONS>;

export const emulator = command({
  name: 'emulator',
  summary: 'run a small copy of the service on this machine',
  description: [
    'Shows on a terminal what to try. In a pipe, prints {"base_url": ..., "upload_url": ...} in one line when it is ready. Ctrl-C or SIGTERM stops it.',
    'With --uploads, it also accepts uploads over WebDAV, with the same user name and password.',
  ],
  details: [
    'A fault is METHOD PATH=KIND[,first=N|,every=N]. METHOD may be *, and PATH may end with *. KIND is a status (300 to 599), 429:60 (with Retry-After: 60), drop (close the connection), stall (send nothing) or html; for uploads also drop:4096 (after 4096 bytes), late:401 (respond after the whole upload) or partial (show the file before it is complete).',
  ],
  examples: [
    'imgctl emulator --from catalogue.json',
    'imgctl emulator --uploads ./uploads --sample',
    'imgctl emulator --uploads ./uploads --sync-delay 5s --user alice:secret',
    "imgctl emulator --fault 'GET /v2/image=503,first=2'",
  ],
  seeAlso: ['demo'],
  options: OPTIONS,
  run,
});

export function defaultSettings() {
  const { user, ...settings } = defaultsOf(OPTIONS);
  return { ...settings, users: user.map(parseUser) };
}

async function run(context: Context, options: Options): Promise<void> {
  const { parseFault } = await import('../../emulator/faults.ts');
  const { startEmulator, steadyClock } = await import('../../emulator/emulator.ts');
  const { io, console } = context;
  const { user, deniedUser, fault, uploads, sample, from, until, ...settings } = options;
  const { host, port } = settings;
  const users = user.map(parseUser);
  const folder = uploads === undefined ? undefined : makeUploads(io.cwd, uploads);
  if (sample && folder === undefined) {
    const facts = hint`use: ${imgctl('emulator', '--uploads', './uploads', '--sample')}`;
    throw new ImgctlError('usage', '--sample needs --uploads', { facts });
  }
  const images =
    from === undefined ? undefined : await (await readSnapshot(from, context.io)).images();
  const emulator = await startEmulator({
    ...settings,
    now: steadyClock(io),
    until: until === undefined ? undefined : parseDay(until),
    catalogue: images as readonly Partial<Image>[] | undefined,
    uploads: folder,
    users,
    deniedUsers: deniedUser?.map(parseUser),
    faults: fault?.map(parseFault),
    log: (line) => console.report(line),
  }).catch((cause: unknown) => {
    if (cause instanceof ImgctlError) throw cause;
    const [reason, facts] = whyNotListening(cause);
    throw new ImgctlError('usage', `cannot listen on ${host}:${port}: ${reason}`, { facts, cause });
  });
  const { name } = users[0] ?? { name: '' };
  try {
    if (sample && folder) await writeSample(path.join(folder, name));
    const guide = guideOf(emulator, options, name, io);
    // Without a folder for uploads there is no upload_url.
    const json = `${JSON.stringify({ base_url: emulator.baseUrl, upload_url: emulator.uploadUrl })}\n`;
    await console.print(io.stdout.isTTY ? guide : json);
    // Requests for other names get 421.
    if (host !== 'localhost' && host !== '::1' && !host.startsWith('127.')) {
      const names = `localhost, ${host} and the IP addresses of this machine`;
      const other = imgctl('emulator', '--host', 'NAME');
      console.report(`accepted host names: ${names}`, hint`to accept another name: ${other}`);
    }
    if (!io.signal.aborted) await once(io.signal, 'abort');
  } finally {
    await emulator.close();
  }
}

/** Returns why the emulator cannot listen, and what to do about it. */
export function whyNotListening(cause: unknown): readonly [reason: string, facts?: Facts] {
  const usePort = hint`use a free port with: ${imgctl('emulator', '--port', '0')}`;
  const useHost = hint`use an address of this machine: ${imgctl('emulator', '--host', '127.0.0.1')}`;
  switch (errorCode(cause)) {
    case 'EADDRINUSE':
      return ['another program uses that port', usePort];
    case 'EACCES':
      return ['this user may not use that port', usePort];
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return ['the name has no address', useHost];
    case 'EADDRNOTAVAIL':
      return ['it is not an address of this machine', useHost];
    default:
      return [errorReason(cause)];
  }
}

/**
 * Returns variables and commands to try, in the order in which they work. They change no profile.
 * @param name of the first user
 */
function guideOf(
  { baseUrl, uploadUrl }: Emulator,
  { from, images, user, uploads = '', sample }: Options,
  name: string,
  io: Io,
): string {
  const program = programName(io);
  const isDefault = user.join() === DEFAULT_USER;
  const sampleFile = shellQuote(path.resolve(io.cwd, uploads, name, 'sample.ova'));
  const account = { USERNAME: name, PASSWORD: isDefault ? name : 'PASSWORD' };
  const lines = [
    ...exports({ BASE_URL: baseUrl, ...account }, io),
    ...(uploadUrl === undefined ? [] : exports({ URL: uploadUrl, ...account }, io, 'UPLOAD_')),
    `${program} images list -s updated_on,desc -n 5`,
    ...(from === undefined && images > 0 ? [`${program} images latest ubuntu 24.04 server`] : []),
    ...(sample ? [`${program} sync --wait`, `cp ${sampleFile} my-image.ova`] : []),
    ...(uploadUrl === undefined ? [] : [`${program} push ${sample ? 'my-image.ova' : 'YOUR.ova'}`]),
  ];
  return [
    `A copy of the service runs at ${baseUrl} (user ${name}${isDefault ? `, password ${name}` : ''}).`,
    'Try this in another terminal; it changes no profile:\n',
    ...lines.map((line) => `  ${line}`),
    '\nCtrl-C stops it.\n',
  ].join('\n');
}

/** Returns how users call imgctl: in a clone, where npm runs it, nothing may be installed. */
export function programName({ env }: Pick<Io, 'env'>): string {
  return env.npm_command === undefined ? 'imgctl' : 'npx imgctl';
}

/** Returns lines for the shell that set variables, whose names begin with IMGCTL_ and `start`. */
function exports(
  values: Readonly<Record<string, string>>,
  { system }: Io,
  start = '',
): readonly string[] {
  const variables = Object.entries(values).map(
    ([name, value]) => [`IMGCTL_${start}${name}`, value] as const,
  );
  if (system.platform === 'win32') {
    return variables.map(([name, value]) => `$env:${name} = '${value.replaceAll("'", "''")}'`);
  }
  return [`export ${variables.map(([name, value]) => `${name}=${shellQuote(value)}`).join(' ')}`];
}

function makeUploads(cwd: string, uploads: string): string {
  const folder = path.resolve(cwd, uploads);
  try {
    makeFolder(folder);
    fs.readdirSync(folder);
    return folder;
  } catch (cause) {
    const message = `cannot use ${folder} for uploads: ${errorReason(cause)}`;
    throw new ImgctlError('usage', message, {
      facts: hint`use a folder such as: ${imgctl('emulator', '--uploads', './uploads')}`,
      cause,
    });
  }
}

/** Leaves a file of that name as it is. */
async function writeSample(folder: string): Promise<void> {
  const { sampleOva } = await import('../../emulator/sample-ova.ts');
  const file = path.join(folder, 'sample.ova');
  try {
    makeFolder(folder);
    if (!fs.existsSync(file)) fs.writeFileSync(file, sampleOva());
  } catch (error) {
    throw cannotWrite(file, error);
  }
}

function parseDay(text: string): number {
  const day = parseTimestamp(`${text}T00:00Z`);
  if (day !== undefined) return day;
  const message = `--until must be a date (got ${text})`;
  throw new ImgctlError('usage', message, { facts: 'use a date such as 2025-07-31' });
}

function parseUser(text: string): User {
  // The name is also that of an upload folder.
  const [, name, password] = /^(?!\.{1,2}:)([^:/\\\0]+):(.+)/s.exec(text) ?? [];
  if (name !== undefined && password !== undefined) return { name, password };
  const [given, secret] = text.split(/:(.*)/s);
  if (given && secret) {
    const facts = 'use a name without / and \\, which becomes a folder of --uploads';
    throw new ImgctlError('usage', 'a user name must not be a path', { facts });
  }
  const facts = hint`use a user such as: ${imgctl('emulator', '--user', 'alice:secret')}`;
  throw new ImgctlError('usage', 'a user must be name:password', { facts });
}
