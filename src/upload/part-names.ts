// Parts, the hidden files that are uploaded: their names, and which of them killed processes left.

import { randomBytes } from 'node:crypto';
import { shortDigest } from '../files/paths.ts';
import type { System } from '../io.ts';

/** Milliseconds. */
const MAX_PART_AGE = 24 * 3_600_000;
/** Milliseconds without a change: a container with the name of this host has other processes. */
const MIN_PART_AGE = 600_000;

/**
 * Returns a new name for a part of a file, such as
 * `.imgctl-0123456789abcdef-HOST-4711-89abcdef.partial` if process 4711 of HOST writes it.
 * Nextcloud and ownCloud refuse names that end in `.part` and `.filepart`.
 */
export function partName(name: string, system: System): string {
  const unique = randomBytes(4).toString('hex');
  return `${prefixOf(name)}${shortHost(system)}-${system.pid}-${unique}.partial`;
}

/** What partName returns, with the host and the process. */
const PART = /^\.imgctl-[0-9a-f]{16}-(.+)-(\d+)-[0-9a-f]{8}\.partial$/;

export function isPart(name: string): boolean {
  return PART.test(name);
}

/** True for the parts of a file, of any process. */
export function isPartOf(name: string, part: string): boolean {
  return isPart(part) && part.startsWith(prefixOf(name));
}

function prefixOf(name: string): string {
  return `.imgctl-${shortDigest(name, 16)}-`;
}

/** Long names of hosts often begin alike, so that the beginning alone would mix them up. */
function shortHost(system: System): string {
  const host = system.hostname();
  if (/^[\w.-]{1,16}$/.test(host)) return host;
  const digest = shortDigest(host, 8);
  return `${host.replace(/[^\w.-]/g, '_').slice(0, 7)}_${digest}`;
}

/**
 * True for a part of this host whose process has ended, after 10 minutes; for any after a day.
 * @param age milliseconds since its last change
 */
export function isDeadPart(name: string, age: number, system: System): boolean {
  const [, host, pid] = PART.exec(name) ?? [];
  if (host === undefined) return false;
  const isAbandoned = host === shortHost(system) && !system.isAlive(Number(pid));
  return age > (isAbandoned ? MIN_PART_AGE : MAX_PART_AGE);
}

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}

/** Removes all files that can be removed. @throws the first error, after that */
export async function removeAll(
  names: readonly string[],
  remove: (name: string) => Promise<void>,
): Promise<void> {
  const errors: unknown[] = [];
  for (const name of names) await remove(name).catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw errors[0];
}
