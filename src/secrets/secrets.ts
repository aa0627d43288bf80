// Reads secrets from variables, files, commands and standard input.

import fs from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { untilAborted } from '../abort.ts';
import { SECRETS, type SettingKey } from '../config/definitions.ts';
import type { FoundText, Settings } from '../config/settings.ts';
import { controlCharacter, withoutLineEnd } from '../config/values.ts';
import { errorReason, ImgctlError, isMissing, permissionAdvice } from '../errors.ts';
import { advice, type Facts } from '../facts.ts';
import { expandHome } from '../files/paths.ts';
import { builtin, type Io } from '../io.ts';
import { runChild, TIME_LIMIT } from './child.ts';

type SecretName = keyof typeof SECRETS;
type CommandKey = Extract<SettingKey, `${string}-command`>;

export interface SecretSource {
  /** Where the settings name it; undefined if they do not. */
  readonly layer?: FoundText['layer'];
  /** The variable, file or command it comes from, for messages. */
  readonly origin: string;
  /** @throws ImgctlError usage or config: no usable secret; the reason of an interrupt */
  read(): Promise<string>;
}

/**
 * Returns the first source that is set:
 *
 *     options      the file, the command
 *     variables    the secret itself, the file, the command
 *     profile      the file, the command
 */
export function findSecret(settings: Settings, io: Io, name: SecretName): SecretSource | undefined {
  const [variable, setting]: readonly [string, CommandKey?, string?] = SECRETS[name];
  const sources = [
    variableSource(io, variable),
    fileSource(settings, io, name),
    setting && commandSource(settings, io, setting),
  ];
  const sourcesAt = (layer: string) => sources.filter((source) => source?.layer === layer);
  return ['option', 'variable', 'profile'].flatMap(sourcesAt)[0];
}

function variableSource(io: Io, origin: string): SecretSource | undefined {
  const value = io.env[origin];
  if (!value) return undefined;
  const fix = advice(`set ${origin} to the secret alone, on one line`);
  return { layer: 'variable', origin, read: async () => checkSecret(value, origin, fix) };
}

/** A file whose first line is the secret. */
function fileSource(settings: Settings, io: Io, name: SecretName): SecretSource | undefined {
  const variable = `${SECRETS[name][0]}_FILE`;
  // Only the password has a setting for its file, of the same variable.
  const isSetting = name === 'password';
  const ofVariable = { layer: 'variable', text: io.env[variable] || undefined } as const;
  const { layer, text: file } = isSetting ? settings.find('password-file') : ofVariable;
  if (file === undefined) return undefined;
  const namedBy = layer === 'variable' ? variable : 'password-file';
  const origin = `the file ${file} (${namedBy})`;
  const read = async () => {
    const given = isSetting ? settings.get('password-file') : expandHome(file, variable, io.env);
    const located = path.resolve(io.cwd, given ?? file);
    if (mayBeRotated(located)) await io.sleep(1_000, io.signal);
    const limit = AbortSignal.timeout(TIME_LIMIT);
    try {
      const stream = openFile(located);
      return await readFirstLine(stream, AbortSignal.any([io.signal, limit]), origin);
    } catch (cause) {
      if (cause instanceof ImgctlError) throw cause;
      if (isMissing(cause)) {
        const facts = advice(`create it, or check ${namedBy}`);
        throw new ImgctlError('config', `${file} does not exist`, { facts, cause });
      }
      const reason = limit.aborted ? `no line within ${TIME_LIMIT / 1_000} s` : errorReason(cause);
      const facts = permissionAdvice(cause, located) ?? advice(`check ${namedBy}`);
      throw new ImgctlError('config', `cannot read ${origin}: ${reason}`, { facts, cause });
    }
  };
  return { layer, origin, read };
}

/** True if the file is missing or empty: what rotates a password may leave it so for a moment. */
function mayBeRotated(file: string): boolean {
  try {
    const stat = fs.statSync(file);
    return stat.isFile() && stat.size === 0;
  } catch (error) {
    return isMissing(error);
  }
}

/** A command that prints the secret as its first line. */
function commandSource(settings: Settings, io: Io, setting: CommandKey): SecretSource | undefined {
  const { layer, text, origin } = settings.find(setting);
  if (text === undefined) return undefined;
  const what = `the ${setting.replaceAll('-', ' ')}`;
  const read = async () => {
    const command = settings.get(setting) ?? text;
    const result = await runChild(io, { command, stderr: 'inherit', limitAfterLine: 2_000 });
    if (result.failure === undefined) return firstLine(result.stdout, what);
    const { failure, cause } = result;
    const isTyped = layer === 'option';
    const facts = { kind: 'secret-command', setting, command, isTyped } as const;
    throw new ImgctlError('config', `${what} ${failure}`, { facts, cause });
  };
  return { layer, origin: `${what} (${origin})`, read };
}

/** Opens a named pipe without waiting for a writer: Node could not end during such a wait. */
function openFile(file: string): Readable {
  const stat = fs.statSync(file);
  if (!stat.isFIFO() && !stat.isCharacterDevice())
    return fs.createReadStream(file, { end: MAX_BYTES });
  const fd = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
  if (builtin('node:tty').isatty(fd)) {
    fs.closeSync(fd);
    throw new Error('it is a terminal');
  }
  if (!stat.isFIFO()) return fs.createReadStream(file, { fd, end: MAX_BYTES });
  return new (builtin('node:net').Socket)({ fd, readable: true, writable: false });
}

const MAX_BYTES = 64 * 1024;
/** More than a header can hold, and fewer than MAX_BYTES in any encoding. */
const MAX_LENGTH = 8 * 1024;

export function passwordOfStdin({ stdin, signal }: Io): Promise<string> {
  return readFirstLine(stdin.stream, signal, 'standard input');
}

/**
 * Reads up to MAX_BYTES.
 * @throws ImgctlError config; the reason of an interrupt; the file system's error
 */
async function readFirstLine(stream: Readable, signal: AbortSignal, what: string): Promise<string> {
  builtin('node:stream').addAbortSignal(signal, stream);
  const read = async () => {
    let text = '';
    for await (const chunk of stream.setEncoding('utf8')) {
      text += chunk;
      if (text.includes('\n') || text.length > MAX_BYTES) break;
    }
    return text;
  };
  return firstLine(await untilAborted(read(), signal), what);
}

function firstLine(text: string, what: string): string {
  // Some editors write a byte order mark.
  const line = text.replace(/^\ufeff/, '').split(/\r?\n/, 1)[0] ?? '';
  return checkSecret(line, what, advice('put the secret alone on its first line'));
}

/**
 * Returns a secret without one line end. A bad one never costs one of the few token requests.
 * @throws ImgctlError config
 */
export function checkSecret(text: string, what: string, fix: Facts): string {
  const secret = withoutLineEnd(text);
  const flaw = secretFlaw(secret);
  if (flaw === undefined) return secret;
  throw new ImgctlError('config', `${what} gave ${flaw}`, { facts: fix });
}

function secretFlaw(text: string): string | undefined {
  if (text === '') return 'an empty line';
  if (text.length > MAX_LENGTH) return 'a line that is too long';
  if (text.includes('\ufffd')) return 'text that is not UTF-8';
  const control = controlCharacter(text);
  return control && `a control character (${control})`;
}
