// Reads and changes the lock file of images lock and images get --lock.

import fs from 'node:fs';
import path from 'node:path';
import type { ReceivedImage } from '../api/types.ts';
import {
  formatLockFile,
  type Pin,
  type Pins,
  parseLockFile,
  stateOf,
} from '../catalogue/lock-file.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { withLock } from '../files/lock.ts';
import { DEFAULT_LOCK_FILE } from '../files/paths.ts';
import { cannotWrite, followLinks, readTextFile, replaceUserFile } from '../files/user-file.ts';
import { quoted, suggest } from '../query/suggest.ts';
import type { Source } from './source.ts';

export interface LockFileOptions {
  file?: string;
}

/** Others may be resolving images meanwhile. */
const LOCK_PATIENCE = 60_000;

/** @throws ImgctlError config: unreadable, or missing and `required` */
export async function readPins(
  { io }: Context,
  { file = DEFAULT_LOCK_FILE }: LockFileOptions,
  required: boolean,
): Promise<Map<string, Pin>> {
  const label = { what: `the lock file ${file}`, hint: 'restore it, for example with git' };
  const text = await readTextFile(path.resolve(io.cwd, file), label.what, io);
  if (text !== undefined) return parseLockFile(text, label);
  if (!required) return new Map();
  throw new ImgctlError('config', `${label.what} does not exist`, {
    hint: 'create it with: imgctl images lock add NAME TEXT',
  });
}

/**
 * Replaces the pins by those that `change` returns; one process at a time.
 * @throws ImgctlError config, failed, timeout, and whatever `change` throws
 */
export async function changePins(
  context: Context,
  options: LockFileOptions,
  required: boolean,
  change: (pins: Pins) => Promise<Pins>,
): Promise<void> {
  const { io } = context;
  const { file = DEFAULT_LOCK_FILE } = options;
  const what = `the lock file ${file}`;
  try {
    const target = followLinks(path.resolve(io.cwd, file));
    const update = async (confirm: () => void) => {
      const pins = await readPins(context, options, required);
      const changed = await change(pins);
      if (changed === pins) return;
      await replaceUserFile(target, formatLockFile(changed), what, io.system, confirm);
    };
    // withLock would create the folder.
    fs.accessSync(path.dirname(target));
    await withLock(target, LOCK_PATIENCE, io, update);
  } catch (error) {
    throw cannotWrite(what, error);
  }
}

/** @throws ImgctlError not-found */
export function requirePin(pins: Pins, name: string): Pin {
  const pin = pins.get(name);
  if (pin !== undefined) return pin;
  throw new ImgctlError('not-found', `no image is locked as ${quoted(name)}`, {
    hint: suggest(name, [...pins.keys()], 'imgctl images lock list'),
  });
}

/** Returns the image that a name pins. @throws ImgctlError not-found: it is gone; pin-broken: it was replaced */
export async function readPinned(
  context: Context,
  source: Source,
  options: LockFileOptions,
  name: string,
): Promise<ReceivedImage> {
  const pin = requirePin(await readPins(context, options, true), name);
  const image = await source.getImage(pin.id);
  const hint = `lock the newest one instead: imgctl images lock update ${name}`;
  if (image === undefined) {
    throw new ImgctlError('not-found', `${name} is gone: image ${pin.id} does not exist`, { hint });
  }
  const state = stateOf(pin, image, undefined);
  if (state === 'replaced') {
    const message = `${name} was replaced: image ${pin.id} was updated on ${image.updated_on}`;
    throw new ImgctlError('pin-broken', message, { hint });
  }
  if (state === 'moved') {
    context.console.warn(`${name} was moved from ${pin.path} to ${image.path}`, hint);
  }
  return image;
}
