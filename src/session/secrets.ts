// Reads secrets from variables, files, commands and standard input.

import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { builtin, type Io, untilAborted } from '../io.ts';
import { runChild } from './child.ts';
import type { SettingKey } from './setting-table.ts';
import type { Settings } from './settings.ts';

type CommandKey = Extract<SettingKey, `${string}-command`>;

/** The variable of each secret but the token, and the setting with a command that prints it. */
export const SECRETS = {
  password: { variable: 'IMGCTL_PASSWORD', command: 'password-command' },
  uploadPassword: { variable: 'IMGCTL_UPLOAD_PASSWORD', command: 'upload-password-command' },
  uploadSecret: { variable: 'IMGCTL_UPLOAD_SECRET', command: 'upload-secret-command' },
  storePassword: {
    variable: 'IMGCTL_TOKEN_STORE_PASSWORD',
    command: 'token-store-password-command',
  },
  storeKey: { variable: 'IMGCTL_TOKEN_STORE_KEY', command: undefined },
} as const;

export interface SecretSource {
  /** The variable, file or command it comes from, for messages. */
  readonly origin: string;
  /** @throws ImgctlError config: no usable secret; the reason of an interrupt */
  read(): Promise<string>;
}

/** Returns the first of variable, file and command that is set. @throws ImgctlError config: an invalid setting */
export function findSecret(
  settings: Settings,
  io: Io,
  name: keyof typeof SECRETS,
): SecretSource | undefined {
  const { variable, command: setting } = SECRETS[name];
  const fileVariable = `${variable}_FILE`;
  const { [variable]: value, [fileVariable]: file } = io.env;
  if (value) return { origin: variable, read: async () => value };
  if (file) {
    const origin = `the file ${file} (${fileVariable})`;
    const open = () => fs.createReadStream(path.resolve(io.cwd, file), { end: MAX_BYTES });
    const read = () =>
      readFirstLine(open(), io, origin).catch((error: unknown) => {
        if (error instanceof ImgctlError) throw error;
        const hint = `check ${fileVariable} and the permissions of the file`;
        const message = `cannot read ${origin}: ${errorReason(error)}`;
        throw new ImgctlError('config', message, { hint, cause: error });
      });
    return { origin, read };
  }
  const command = setting && settings.get(setting);
  if (!command) return undefined;
  const origin = `the ${wordsOf(setting)} (${settings.find(setting).origin})`;
  return { origin, read: () => secretOfCommand(command, io, setting) };
}

const MAX_BYTES = 64 * 1024;
/** More than a header can hold, and fewer than MAX_BYTES in any encoding. */
const MAX_LENGTH = 8 * 1024;

/** Returns the first line that a shell command prints. @param setting undefined if no setting holds the command yet */
export async function secretOfCommand(
  command: string,
  io: Io,
  setting?: CommandKey,
): Promise<string> {
  const what = `the ${wordsOf(setting ?? 'password-command')}`;
  const result = await runChild(io, { command, stderr: 'inherit' });
  if (result.failure === undefined) return firstLine(result.stdout, what);
  const show = setting ? `; to show it: imgctl config get ${setting}` : `: ${command}`;
  const { failure, cause } = result;
  throw new ImgctlError('config', `${what} ${failure}`, { hint: `run it by hand${show}`, cause });
}

function wordsOf(setting: CommandKey): string {
  return setting.replaceAll('-', ' ');
}

/** Returns the first line of standard input, for --password-stdin. */
export async function passwordOfStdin(io: Io): Promise<string> {
  if (!io.stdin.isTTY) return readFirstLine(io.stdin.stream, io, 'standard input');
  throw new ImgctlError('usage', '--password-stdin reads a pipe or file, not a terminal', {
    hint: 'omit it to be prompted for the password',
  });
}

/** Reads up to MAX_BYTES. @throws ImgctlError config; the reason of an interrupt; the file system's error */
async function readFirstLine(stream: Readable, io: Io, what: string): Promise<string> {
  builtin('node:stream').addAbortSignal(io.signal, stream);
  const read = async () => {
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) {
      text += chunk;
      if (text.includes('\n') || text.length > MAX_BYTES) break;
    }
    return text;
  };
  return firstLine(await untilAborted(read(), io.signal), what);
}

function firstLine(text: string, what: string): string {
  // Some editors write a byte order mark.
  const line = text.replace(/^\ufeff/, '').split(/\r?\n/, 1)[0] ?? '';
  const flaw = secretFlaw(line);
  if (flaw === undefined) return line;
  throw new ImgctlError('config', `${what} gave ${flaw}`, {
    hint: 'put the secret on its first line',
  });
}

/** Returns why a text is no secret. Checked before a request is sent: the service limits token requests. */
export function secretFlaw(line: string): string | undefined {
  if (line === '') return 'an empty line';
  if (line.length > MAX_LENGTH) return 'a line that is too long';
  // Text in UTF-16 or another encoding.
  if (/[\0\ufffd]/.test(line)) return 'text that is not UTF-8';
  return undefined;
}
