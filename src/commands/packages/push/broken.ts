// Which packages of a push are broken: a sync would make broken images of them.

import { hasCode } from '../../../errors.ts';
import type { PlannedFile, PlannedPackage, Transfer } from '../../../upload/plan.ts';

/**
 * Returns the incomplete packages that a sync would read in a broken state, and the names of their
 * files that others see or may see. The first row that applies counts:
 *
 *     descriptor    | disks                     | broken
 *     --------------+---------------------------+------------------------------------------
 *     another push has replaced the OVA         | no: it is whole, of one push or the other
 *     another push has replaced a file of OVF   | yes: the files may be of two pushes
 *     visible       | any                       | yes: a disk may be missing, or damaged
 *     stored before | one that is replaced      | yes: the old descriptor with a new disk
 *     stored before | only new ones are visible | no: the old descriptor does not name them
 *     not stored    | any                       | no: no descriptor names them
 *     not compared  | one that is replaced      | yes: the descriptor may be stored
 *
 * `db.ovf` was stored. Its `disk.vmdk` is replaced, then the response for the new `db.ovf` is lost:
 * `db.ovf` is broken, with `disk.vmdk` and `db.ovf (perhaps)`.
 */
export function brokenPackages(
  incomplete: ReadonlyMap<PlannedPackage, unknown>,
  { onConflict, visible }: Pick<Transfer, 'onConflict' | 'visible'>,
): ReadonlyMap<string, readonly string[]> {
  const broken = new Map<string, readonly string[]>();
  for (const [{ name, files }, error] of incomplete) {
    const seen = files.filter((file) => visible.has(file.name));
    // An OVA is whole, of this push or of the other one.
    if (files.length === 1 && hasCode(error, 'conflict')) continue;
    const isOfTwoPushes = onConflict === 'replace' && hasCode(error, 'conflict') && seen.length > 0;
    // The descriptor has the name of the package.
    const descriptor = files.find((file) => file.name === name);
    if (!isOfTwoPushes && !mayNameWrongDisk(descriptor, seen)) continue;
    const names = seen.map((file) => {
      return visible.get(file.name)?.isCertain ? file.name : `${file.name} (perhaps)`;
    });
    broken.set(name, names);
  }
  return broken;
}

/** @param seen the files of the package that others see or may see */
function mayNameWrongDisk(descriptor: PlannedFile | undefined, seen: readonly PlannedFile[]) {
  if (descriptor && seen.includes(descriptor)) return true;
  const mayBeStored = descriptor?.before.state !== 'absent';
  // An earlier package that shares the disk may have replaced it.
  return mayBeStored && seen.some(({ before }) => before.state === 'different');
}
