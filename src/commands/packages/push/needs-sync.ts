// Decides whether the packages of a push need a sync.

import type { PlannedPackage } from '../../../upload/plan.ts';
import { comparedName } from '../sync/image-names.ts';
import { wasSent, withoutSkipped } from './packages-sent.ts';
import type { Push } from './push-state.ts';

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
