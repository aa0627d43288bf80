// Which chunks a run of the built program loads.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Environment } from './cli.ts';
import { temporaryDirectory } from './io.ts';

/** Returns an environment in which the program writes the names of its loaded chunks to the file. */
export function watchChunks(env: Environment): { env: Environment; chunks(): string[] } {
  const folder = temporaryDirectory();
  const hook = path.join(folder, 'hook.cjs');
  const file = path.join(folder, 'loaded.json');
  writeFileSync(
    hook,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(file)},
      JSON.stringify(Object.keys(require.cache))));`,
  );
  return {
    env: { ...env, NODE_OPTIONS: `--require ${hook}` },
    chunks: () =>
      (JSON.parse(readFileSync(file, 'utf8')) as string[]).flatMap(
        (name) => /[\\/]dist[\\/](?:chunks[\\/])?(.+?)(?:-[\w-]{8})?\.cjs$/.exec(name)?.[1] ?? [],
      ),
  };
}
