// The build folder, the version and the date of a release.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

export const ROOT = fileURLToPath(import.meta.resolve('../'));
export const BUILD = join(ROOT, 'build');

export const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Returns the time of the last commit in seconds since the epoch, so that builds are reproducible. */
export function sourceDate() {
  return (
    process.env.SOURCE_DATE_EPOCH || run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).trim()
  );
}
