// Runs doctor and reads its rows.

import { type FakeIoOptions, runCli, temporaryDirectory } from '../support/io.ts';

export interface Row {
  readonly check: string;
  readonly state: string;
  readonly finding: string;
  readonly hint: string | null;
}

interface Diagnosis {
  readonly rows: readonly Row[];
  /** Returns `state: finding -> hint` of a check with one row. */
  of(check: string): string;
  /** The failed checks and the warnings, as `check: state`. */
  readonly problems: readonly string[];
  readonly stderr: string;
  readonly exitCode: number;
}

/** Runs doctor; `io.env` is the whole environment besides an empty folder for settings. */
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
    problems: rows
      .filter(({ state }) => state === 'failed' || state === 'warning')
      .map(({ check, state }) => `${check}: ${state}`),
  };
}

function textOf({ state, finding, hint }: Row): string {
  return `${state}: ${finding}${hint === null ? '' : ` -> ${hint}`}`;
}
