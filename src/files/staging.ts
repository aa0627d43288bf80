// New versions of files: what they are called until they are whole, and what killed writers left of them.

import { createHash, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { hostname } from 'node:os';
import path from 'node:path';

/** The name that a new version of the file has, beside it, until it is whole; `sweep` knows it. */
export function stagingName(file: string): string {
  return `.${path.basename(file)}.${writerOf(process.pid)}.${randomBytes(6).toString('hex')}.new`;
}

/**
 * A process of this machine: machines that share a home each have numbers of their own. Short, since the
 * library cuts the end off names beyond 128 characters.
 */
export function writerOf(pid: number): string {
  return `${pid}@${createHash('sha256').update(hostname()).digest('hex').slice(0, 6)}`;
}

/** Also of those that the library makes from it, which go on after `.new`. */
export function isStagingName(name: string): boolean {
  return /^\..*\.new/.test(name);
}

/** No write takes a minute: what is older has lost its writer. */
export const LONGEST_WRITE = 60_000;

/** Removes what it can of the staging files of processes that were killed while writing, or of the one named. */
export function sweep(file: string, ownPid?: number): void {
  const directory = path.dirname(file);
  const prefix = `.${path.basename(file)}.`;
  let names: string[];
  try {
    names = fs.readdirSync(directory);
  } catch {
    return;
  }
  for (const name of names) {
    if (!name.startsWith(prefix) || !isStagingName(name)) continue;
    const leftover = path.join(directory, name);
    const pid = pidOfThisMachine(name.slice(prefix.length));
    const isLeft = pid !== undefined && (pid === ownPid || !isAlive(pid));
    if (isLeft || isOld(leftover)) removeIfPossible(leftover);
  }
}

function pidOfThisMachine(name: string): number | undefined {
  const pid = Number.parseInt(name, 10);
  return name.startsWith(`${writerOf(pid)}.`) ? pid : undefined;
}

function removeIfPossible(file: string): void {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // In a directory that cannot be written; whoever can write there will remove it.
  }
}

/** Its writer's number may have gone to another process since. */
function isOld(file: string): boolean {
  const stat = fs.lstatSync(file, { throwIfNoEntry: false });
  return stat !== undefined && stat.mtimeMs < Date.now() - LONGEST_WRITE;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
