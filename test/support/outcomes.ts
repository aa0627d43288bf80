// Text files that say what comes of what: lines of inputs, each with its outcome, and below them the hint that they share.

import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { CliResult } from './io.ts';

/** What is said, and the hint, if there is one. */
export type Outcome = readonly [what: string, hint?: string | undefined];

/**
 * Compares each outcome with the one in the file; `vitest run -u` writes them anew. In an input,
 * \u000a is the character of this number.
 *
 *     input          outcome
 *     other input    other outcome
 *       the hint of both
 */
export async function expectOutcomes(
  file: string,
  outcomeOf: (input: string) => Outcome | Promise<Outcome>,
): Promise<void> {
  const inputs = [...readFileSync(file, 'utf8').matchAll(/^(\S.*?)(?: {2}.*)?$/gm)].map(
    ([, input = '']) => input,
  );
  const blocks: { lines: string[]; hint: string }[] = [];
  for (const input of inputs) {
    const [what, hint = ''] = await outcomeOf(input.replace(/\\u([\da-f]{4})/g, decode));
    const line = `${input.padEnd(49)}  ${what}`.trimEnd();
    const last = blocks.at(-1);
    if (last?.hint === hint) last.lines.push(line);
    else blocks.push({ lines: [line], hint });
  }
  const texts = blocks.map(({ lines, hint }) => [...lines, ...(hint ? [`  ${hint}`] : [])]);
  await expect(`${texts.map((lines) => lines.join('\n')).join('\n\n')}\n`).toMatchFileSnapshot(
    file,
  );
}

const decode = (_: string, code: string) => String.fromCharCode(Number.parseInt(code, 16));

/** Returns the message and the hint of an error or a warning; of a success, the first line. */
export function outcomeOf({ stdout, stderr }: CliResult): Outcome {
  if (stderr === '') return [`${stdout.split('\n')[0]}`];
  if (stderr.startsWith('{')) {
    const { message, hint } = JSON.parse(stderr).error;
    return [message, hint];
  }
  const [, what = '', hint] = /^imgctl: (.*?)\n(?:hint: (.*)\n)?$/s.exec(stderr) ?? [];
  return [what, hint];
}
