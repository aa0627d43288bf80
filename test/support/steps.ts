// Command lines in turn, each with what it prints: one row per run.

import { expect } from 'vitest';
import type { CliResult } from './io.ts';

/** What a stream shows: the whole text, a pattern in it, or members of its JSON. */
type Output = string | RegExp | object;

/** A command line, its stdout, its stderr and its exit code; by default it is silent and succeeds. */
export type Step = readonly [
  line: string | readonly string[],
  stdout?: Output,
  stderr?: Output,
  exitCode?: number,
];

/** Runs each line and expects exactly its result. */
export async function expectSteps(
  imgctl: (line: string | readonly string[]) => Promise<CliResult>,
  ...steps: readonly Step[]
): Promise<void> {
  for (const [line, stdout = '', stderr = '', exitCode = 0] of steps) {
    const result = await imgctl(line);
    expect({
      line,
      stdout: read(result.stdout, stdout),
      stderr: read(result.stderr, stderr),
      exitCode: result.exitCode,
    }).toMatchObject({ line, stdout: matcherOf(stdout), stderr: matcherOf(stderr), exitCode });
  }
}

const matcherOf = (expected: Output) =>
  expected instanceof RegExp ? expect.stringMatching(expected) : expected;

/** Parses the text if an object is expected; text that is no JSON stays, to be shown. */
function read(text: string, expected: Output): unknown {
  if (typeof expected === 'string' || expected instanceof RegExp) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
