// What has become of a locked image; `images get --lock` shows it, or fails.

import type { ReceivedImage } from '../../../api/types.ts';
import type { Catalogue } from '../../../catalogue/catalogue.ts';
import type { Context } from '../../../context.ts';
import { ImgctlError } from '../../../errors.ts';
import { hint } from '../../../facts.ts';
import { formatTimestamp } from '../../../query/time-format.ts';
import { isSameTime } from '../../../query/timestamp.ts';
import { type LockFileOptions, lockCommand, readLocks, requireLock } from './lock-file.ts';
import { type LockedImage, textOrNull } from './lock-format.ts';

/** How the lock of an image is broken. */
export type Break = 'gone' | 'replaced' | 'moved';

/** @param live the image with this id as the service has it now */
export function breakOf(locked: LockedImage, live: ReceivedImage | undefined): Break | undefined {
  if (live === undefined) return 'gone';
  // A catalogue that was built anew gives the same ids to other images, perhaps with the same
  // times.
  if (textOrNull(live.name) !== locked.name) return 'replaced';
  const hasSameTime =
    textOrNull(live.updated_on) === locked.updated_on ||
    isSameTime(live.updated_on, locked.updated_on);
  if (!hasSameTime) return 'replaced';
  return textOrNull(live.path) === locked.path ? undefined : 'moved';
}

/**
 * Returns the image that is locked with this name.
 * @throws ImgctlError not-found: it is gone; lock-broken: it was replaced
 */
export async function readLockedImage(
  context: Context,
  catalogue: Catalogue,
  options: LockFileOptions,
  name: string,
): Promise<ReceivedImage> {
  const locks = await readLocks(context, options, catalogue.baseUrl);
  const locked = requireLock(options, locks, name);
  const live = await catalogue.getImage(locked.id);
  const update = hint`lock the newest one instead: ${lockCommand(options, 'update', name)}`;
  if (live === undefined) {
    const message = `${name} is gone: image ${locked.id} does not exist`;
    throw new ImgctlError('not-found', message, { facts: update });
  }
  const broken = breakOf(locked, live);
  if (broken === 'replaced') {
    const how = describeReplacement(context, locked, live);
    const message = `${name} was replaced: image ${locked.id} ${how}`;
    throw new ImgctlError('lock-broken', message, { facts: update });
  }
  if (broken === 'moved') {
    const places = `from ${locked.path ?? '-'} to ${live.path ?? '-'}`;
    context.console.warn(`${name} was moved ${places}`, update);
  }
  return live;
}

function describeReplacement({ settings, io }: Context, locked: LockedImage, live: ReceivedImage) {
  if (textOrNull(live.name) !== locked.name) return `is now ${live.name ?? 'without a name'}`;
  const style = settings.get('time') ?? 'local';
  const updated = textOrNull(live.updated_on) ?? 'an unknown date';
  return `was updated on ${formatTimestamp(updated, style, io.now())}`;
}
