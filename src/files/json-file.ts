// JSON files that hold settings and secrets: read with suspicion, written whole or not at all.
//
// conf does the writing, but by itself it replaces a good file by a truncated one on a full disk and
// writes in place under SNAP. So it writes to a staging file beside, which is verified and then renamed.

import fs from 'node:fs';
import path from 'node:path';
import { isObject, type JsonObject } from '../json.ts';
import { withoutSignalHandlers } from './signal-handlers.ts';
import { stagingName, sweep } from './staging.ts';

export type ReadResult =
  | { readonly state: 'absent' }
  | { readonly state: 'read'; readonly value: JsonObject }
  /** `reason` tells what and where, never the contents. */
  | { readonly state: 'broken'; readonly reason: string };

const LARGEST = 4 * 2 ** 20;

// Windows has neither flag. Without O_NONBLOCK a named pipe would be waited on for ever.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
const READ_FLAGS = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Reads a JSON object. A file that others could read is tightened to 0600; links are not followed. */
export function readJsonFile(file: string): ReadResult {
  let descriptor: number;
  try {
    descriptor = fs.openSync(file, READ_FLAGS);
  } catch (error) {
    if (isAbsence(error)) return { state: 'absent' };
    const { code } = error as NodeJS.ErrnoException;
    return { state: 'broken', reason: code === 'ELOOP' ? 'it is a symbolic link' : `${code}` };
  }
  try {
    const stat = fs.fstatSync(descriptor);
    if (!stat.isFile()) return { state: 'broken', reason: 'it is not a regular file' };
    if (stat.size > LARGEST) return { state: 'broken', reason: 'it is too large' };
    if ((stat.mode & 0o077) !== 0) tighten(descriptor);
    return parse(fs.readFileSync(descriptor, 'utf8'));
  } catch (error) {
    return { state: 'broken', reason: `${(error as NodeJS.ErrnoException).code}` };
  } finally {
    fs.closeSync(descriptor);
  }
}

/** There is nothing of that name, or a file where the directory would be. */
export function isAbsence(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function tighten(descriptor: number): void {
  try {
    fs.fchmodSync(descriptor, 0o600);
  } catch {
    // On a read-only file system, or somebody else's file: reading it is still right.
  }
}

function parse(text: string): ReadResult {
  const json = text.replace(/^\ufeff/, '');
  try {
    const value: unknown = JSON.parse(json);
    if (isObject(value)) return { state: 'read', value };
    return { state: 'broken', reason: 'it does not hold a JSON object' };
  } catch (error) {
    const position = errorPosition(json, (error as Error).message);
    const before = json.slice(0, position).split('\n');
    const column = (before.at(-1) ?? '').length + 1;
    return { state: 'broken', reason: `not valid JSON at line ${before.length}, column ${column}` };
  }
}

/** V8 names the position of every error but an unexpected token: the shortest prefix with one ends there. */
function errorPosition(json: string, message: string): number {
  const named = /at position (\d+)(?: \(line \d+ column \d+\))?$/.exec(message)?.[1];
  if (named !== undefined) return Number(named);
  if (!hasUnexpectedToken(json)) return json.length;
  let sound = 0;
  let unsound = json.length;
  while (unsound - sound > 1) {
    const middle = Math.floor((sound + unsound) / 2);
    if (hasUnexpectedToken(json.slice(0, middle))) unsound = middle;
    else sound = middle;
  }
  return sound;
}

function hasUnexpectedToken(json: string): boolean {
  try {
    JSON.parse(json);
    return false;
  } catch (error) {
    return (error as Error).message.startsWith('Unexpected token');
  }
}

/**
 * Writes a JSON object: mode 0600 from its first byte, in a directory of mode 0700. The old file stays
 * whole until the new one is on the disk and was read back.
 * @throws the file system's error; nothing is left behind then
 */
export async function writeJsonFile(file: string, value: JsonObject): Promise<void> {
  const { default: Conf } = await withoutSignalHandlers(() => import('conf'));
  const directory = path.dirname(file);
  makeDirectory(directory);
  sweep(file);
  const name = stagingName(file);
  const staging = path.join(directory, name);
  try {
    const conf = new Conf<JsonObject>({
      cwd: directory,
      configName: name,
      fileExtension: '',
      projectSuffix: '',
      configFileMode: 0o600,
      accessPropertiesByDotNotation: false,
    });
    conf.store = value;
    const written = readJsonFile(staging);
    if (written.state !== 'read' || JSON.stringify(written.value) !== JSON.stringify(value)) {
      throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
    }
    fs.renameSync(staging, file);
  } catch (error) {
    sweep(file, process.pid);
    throw error;
  }
}

/** Makes a directory of mode 0700 with all above it. Node's own way says ENOENT on a read-only disk. */
export function makeDirectory(directory: string): void {
  if (isDirectory(directory)) return;
  const above = path.dirname(directory);
  if (above !== directory) makeDirectory(above);
  try {
    fs.mkdirSync(directory, { mode: 0o700 });
  } catch (error) {
    // Another process may have been first.
    if (!isDirectory(directory)) throw error;
  }
}

function isDirectory(file: string): boolean {
  return fs.statSync(file, { throwIfNoEntry: false })?.isDirectory() === true;
}
