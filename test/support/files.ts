// Modes, lists and contents of files, and the folder of real packages.

import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { tryOr } from '../../src/errors.ts';
import { temporaryDirectory } from './io.ts';

/** Packages of real exporters, beside the project; may be missing. */
export const FIXTURES = path.resolve(import.meta.dirname, '../../../shared/fixtures/ovf');

/** Returns the mode in octal, such as 600. */
export function modeOf(file: string): string {
  return (statSync(file).mode & 0o777).toString(8);
}

/** Returns the paths of all files below a folder, without links. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

/** Returns the files below a folder that this process has open; none where the system does not say. */
export function openFilesBelow(folder: string): string[] {
  const descriptors = existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd') : [];
  return descriptors
    .map((descriptor) => tryOr(() => readlinkSync(`/proc/self/fd/${descriptor}`), ''))
    .filter((file) => file.startsWith(realpathSync(folder)));
}

/** Changes one byte of a file; a negative position counts from the end. */
export function flipByte(file: string, position: number): void {
  const bytes = readFileSync(file);
  const at = position < 0 ? bytes.length + position : position;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

/** Returns the files below a folder that contain one of these texts. */
export function filesHolding(folder: string, texts: readonly string[]): string[] {
  return filesBelow(folder).filter((file) => {
    const content = readFileSync(file, 'utf8');
    return texts.some((text) => content.includes(text));
  });
}

/** Creates a named pipe that nobody writes to before the test has finished. */
export function silentPipe(): string {
  const pipe = path.join(temporaryDirectory(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  // A thread that waits to open it would hold the process.
  onTestFinished(() => closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK)));
  return pipe;
}

/** Returns the folder of the access tokens below a home. */
export const tokensOf = (home: string) => path.join(home, '.config/imgctl/tokens');
