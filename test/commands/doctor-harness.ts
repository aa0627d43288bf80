// Runs imgctl doctor and reads what it found, row by row.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type FakeIoOptions, runCli, temporaryDirectory } from '../support/io.ts';

export interface Row {
  readonly check: string;
  readonly state: string;
  readonly finding: string;
  readonly remedy: string | null;
}

export interface Diagnosis {
  readonly rows: readonly Row[];
  /** `state: finding -> remedy` of a check that has one row. */
  of(check: string): string;
  /** The rows that are neither ok nor left out, as `check: state`. */
  readonly troubles: readonly string[];
  readonly stderr: string;
  readonly exitCode: number;
}

/** A folder for `IMGCTL_CONFIG_DIR` whose default profile has these settings. */
export function folderWith(settings: Readonly<Record<string, string>>): string {
  const directory = temporaryDirectory();
  const config = JSON.stringify({ profiles: { default: settings } });
  writeFileSync(path.join(directory, 'config.json'), config, { mode: 0o600 });
  return directory;
}

/** `io.env` is the whole environment but for a folder of its own for the settings. */
export async function diagnose(
  io: FakeIoOptions = {},
  argv: readonly string[] = [],
): Promise<Diagnosis> {
  const env = { IMGCTL_CONFIG_DIR: temporaryDirectory(), ...io.env };
  const { stdout, stderr, exitCode } = await runCli(['doctor', '-o', 'json', ...argv], {
    ...io,
    env,
  });
  const rows: Row[] = JSON.parse(stdout);
  return {
    rows,
    stderr,
    exitCode,
    of(check) {
      const found = rows.filter((row) => row.check === check);
      if (found.length !== 1) throw new Error(`${found.length} rows of ${check}`);
      return found.map(textOf).join();
    },
    troubles: rows
      .filter(({ state }) => state === 'failed' || state === 'warning')
      .map(({ check, state }) => `${check}: ${state}`),
  };
}

function textOf({ state, finding, remedy }: Row): string {
  return `${state}: ${finding}${remedy === null ? '' : ` -> ${remedy}`}`;
}
