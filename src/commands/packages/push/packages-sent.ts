// Which packages of a push were sent or skipped, and whether they need a sync.

import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedPackage } from '../../../upload/plan.ts';
import { comparedName } from '../sync/image-names.ts';
import type { Push } from './push-state.ts';

/** True if a file of the package was sent, or would be without --dry-run. */
export function wasSent({ files }: PlannedPackage): boolean {
  return files.some(isSent);
}

/** True if --on-conflict skip left another file with the name of one of the package's files. */
export function wasSkipped({ files }: PlannedPackage): boolean {
  return files.some(isSkipped);
}

export function withoutSkipped(packages: readonly PlannedPackage[]): readonly PlannedPackage[] {
  return packages.filter((each) => !wasSkipped(each));
}

/**
 * Decides whether a sync is submitted, by the first row that holds:
 *
 *     all packages were skipped          | no
 *     without --sync-if-sent             | yes
 *     a package was sent                 | yes
 *     the user has no image of a package | yes
 *     the last sync left no mark         | yes
 *     otherwise                          | no
 */
export function needsSync(
  { options, before, mark }: Push,
  complete: readonly PlannedPackage[],
): boolean {
  const packages = withoutSkipped(complete);
  if (packages.length === 0) return false;
  if (!options.syncIfSent || packages.some(wasSent)) return true;
  const imageNames = before.map(comparedName);
  return !packages.every((each) => imageNames.includes(comparedName(each))) || !mark.isThere();
}
