// Reads the files of imgctl, which hold settings and secrets, and replaces any file in one step.

import fs from 'node:fs';
import path from 'node:path';
import { attempt, errorCode, isMissing, tryOr } from '../errors.ts';
import { builtin } from '../io.ts';
import {
  decodeUtf8,
  isObject,
  isTooDeep,
  type JsonObject,
  parseFile,
  parseLossless,
} from '../json.ts';

/** Throws unless the mutex that the write needs is still held. */
export type AssertHeld = () => void;

/** Bytes of an own file. */
export const MAX_FILE_SIZE = 4 * 2 ** 20;

// Windows has neither flag. Without O_NONBLOCK opening a named pipe never returns.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/**
 * Reads an own file, and tightens it to 0600 if others could read it.
 * @param check called before anything is read or changed
 * @throws an error whose `errorReason` names the problem and its place, never the contents
 */
export function readOwnFile(
  file: string,
  check?: (stat: fs.Stats) => void,
  uid?: number,
): string | undefined {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, READ_FLAGS);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw errorCode(error) === 'ELOOP' ? new Error('it is a symbolic link') : error;
  }
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) throw new Error('it is not a regular file');
    check?.(stat);
    if (stat.size > MAX_FILE_SIZE) throw new Error('it is too large');
    const isOurs = uid === undefined || stat.uid === uid;
    const isTooPublic = isOurs && (stat.mode & 0o077) !== 0;
    // On a read-only file system: reading it is still right.
    if (isTooPublic) tryOr(() => fs.fchmodSync(descriptor, 0o600), undefined);
    return decodeUtf8(fs.readFileSync(descriptor));
  } finally {
    fs.closeSync(descriptor);
  }
}

export function readJsonFile(...args: Parameters<typeof readOwnFile>): JsonObject | undefined {
  const text = readOwnFile(...args);
  return text === undefined ? undefined : parseObject(text);
}

/**
 * @throws an error that names the problem and its place, never the contents; also if a key stands
 * twice: one of the two values would be lost
 */
function parseObject(json: string): JsonObject {
  if (isTooDeep(json)) throw new Error('its JSON is nested too deep');
  const { value, error } = attempt<unknown>(() => JSON.parse(json));
  if (error) throw new Error(`not valid JSON at ${placeOfError(json)}`);
  if (!isObject(value)) throw new Error('it does not hold a JSON object');
  const { twice } = parseFile(json);
  if (twice !== undefined) throw new Error(`it has ${twice} twice`);
  return value;
}

/** Returns the line and column of an error of syntax. V8 does not always say where it is. */
function placeOfError(json: string): string {
  const { error } = attempt(() => parseLossless(json));
  const [, position = json.length] = /at position (\d+)$/.exec(`${error?.message}`) ?? [];
  const before = json.slice(0, Number(position)).split('\n');
  const column = (before.at(-1) ?? '').length + 1;
  return `line ${before.length}, column ${column}`;
}

/**
 * Creates a folder of mode 0700 and those above it. The recursive option of Node's mkdir reports a
 * read-only file system as ENOENT.
 */
export function makeFolder(folder: string): void {
  const parent = path.dirname(folder);
  if (fs.existsSync(folder) || parent === folder) return;
  makeFolder(parent);
  try {
    fs.mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process may have been first.
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

interface WriteOptions {
  /** Called right before the rename, as the flush before it may take long. */
  readonly assertHeld?: AssertHeld | undefined;
  /** Creates the staging file with the text, if not with mode 0600. */
  readonly create?: (staging: string) => void | Promise<void>;
  /** True to keep the owner and the group of the old file, as far as this user may. */
  readonly keepsOwner?: boolean;
}

export function writeJsonFile(file: string, value: JsonObject, options?: WriteOptions) {
  return replaceFile(file, `${JSON.stringify(value, undefined, '\t')}\n`, options);
}

/**
 * Replaces a file. The old one stays whole until the new one is on the disk and was read back.
 * @throws the file system's error; no staging file stays then
 */
export async function replaceFile(
  file: string,
  text: string | Buffer,
  { create, assertHeld, keepsOwner = false }: WriteOptions = {},
): Promise<void> {
  const directory = path.dirname(file);
  makeFolder(directory);
  const unique = builtin('node:crypto').randomUUID();
  const staging = path.join(directory, `.${path.basename(file)}.${unique}.new`);
  try {
    if (create) await create(staging);
    else fs.writeFileSync(staging, text, { mode: 0o600, flag: 'wx' });
    const old = keepsOwner ? fs.lstatSync(file, { throwIfNoEntry: false }) : undefined;
    if (old) keepOwner(staging, old);
    flushAndVerify(staging, text);
    await putInPlace(staging, file, assertHeld);
  } finally {
    removeLeftovers(file, staging);
  }
}

/** Only root may give a file away. Other users may give it to a group of theirs. */
function keepOwner(staging: string, { uid, gid }: fs.Stats): void {
  const { error } = attempt(() => fs.lchownSync(staging, uid, gid));
  if (error) tryOr(() => fs.lchownSync(staging, -1, gid), undefined);
}

const BUSY = ['EPERM', 'EACCES', 'EBUSY'];
/** Milliseconds. */
const MAX_DELAY = 512;

/**
 * On Windows a virus scanner or another reader may block the rename: it is retried for a second.
 * Elsewhere such an error comes a second late.
 */
async function putInPlace(staging: string, file: string, assertHeld?: AssertHeld): Promise<void> {
  for (let delay = 8; ; delay *= 2) {
    assertHeld?.();
    try {
      return fs.renameSync(staging, file);
    } catch (error) {
      if (!BUSY.includes(errorCode(error)) || delay > MAX_DELAY) throw error;
    }
    await builtin('node:timers/promises').setTimeout(delay);
  }
}

function flushAndVerify(file: string, text: string | Buffer): void {
  const descriptor = fs.openSync(file, 'r+');
  try {
    fs.fsyncSync(descriptor);
    const isWhole = fs.readFileSync(descriptor).equals(Buffer.from(text));
    if (!isWhole) throw new Error('it was only partly written');
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Milliseconds. The writer of an older staging file was killed. */
const MAX_WRITE_TIME = 60_000;

/** A random UUID, by which imgctl tells its own files from those of others. */
export const UUID = '[\\da-f]{8}(?:-[\\da-f]{4}){3}-[\\da-f]{12}';

/** The end of a staging file's name; conf adds an extension. */
const STAGING = new RegExp(`^${UUID}\\.new`);

/** Removes the staging files of this write and of killed writers, also with conf's extension. */
function removeLeftovers(file: string, staging: string): void {
  const directory = path.dirname(file);
  const prefix = `.${path.basename(file)}.`;
  const timeOf = (name: string) =>
    tryOr(() => fs.lstatSync(name, { throwIfNoEntry: false })?.mtimeMs, undefined);
  // The disk may have another clock than this machine.
  const time = timeOf(staging) ?? timeOf(file) ?? 0;
  for (const name of tryOr(() => fs.readdirSync(directory), [])) {
    const leftover = path.join(directory, name);
    if (!name.startsWith(prefix) || !STAGING.test(name.slice(prefix.length))) continue;
    const isOld = (timeOf(leftover) ?? time) < time - MAX_WRITE_TIME;
    // Another process may be first, and the directory may be read-only.
    if (isOld || leftover.startsWith(staging)) tryOr(() => fs.unlinkSync(leftover), undefined);
  }
}
