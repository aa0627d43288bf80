// imgctl version: prints the version, as --version does.

import type { Context } from '../context.ts';

export async function run(context: Context): Promise<void> {
  await context.console.print(`${context.version}\n`);
}
