// What every file of a release has in common: the folder it is built in, the version and the date.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.mjs';

export const ROOT = fileURLToPath(import.meta.resolve('../'));
export const BUILD = join(ROOT, 'build');

/** package.json, which says name, version, description and licence. */
export const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Seconds since the epoch: of the last commit, so that the same sources make the same bytes. */
export function sourceDate() {
  return (
    process.env.SOURCE_DATE_EPOCH || run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT }).trim()
  );
}
