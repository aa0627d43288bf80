// Which packages of a push were sent or skipped.

import { isSent, isSkipped } from '../../../upload/actions.ts';
import type { PlannedPackage } from '../../../upload/plan.ts';

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
