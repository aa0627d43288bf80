// What a command returns, and how it is printed: first the rows, then what depends on them.

import type { Context } from '../context.ts';
import { hasCode, ImgctlError } from '../errors.ts';
import type { Advice } from '../facts.ts';
import { BrokenPipeError } from '../io.ts';
import type { Column, Row } from '../output/columns.ts';
import type { Output } from '../output/output.ts';
import { writeText } from '../output/text.ts';
import { listWriter } from '../output/writers.ts';

/** What is known only after the last row. */
export interface End {
  /** With --meta. */
  readonly meta?: unknown;
  /** How many rows there are, below a table on a terminal. */
  readonly summary?: string | undefined;
  /** Called after printing. It is not called if printing failed, unless `error` follows. */
  readonly afterwards?: () => Promise<void> | void;
  /** Thrown after printing, even if the pipe was closed or there was no value for --get. */
  readonly error?: unknown;
  /** The exit code of a success; 0 if undefined. */
  readonly exitCode?: number;
  /** What was done, for the error if the output cannot be written. */
  readonly done?: Advice;
}

/** Rows as they come. A failed write is thrown at the yield of its rows. */
export type Rows = AsyncGenerator<readonly Row[], End, void>;

/** Rows, or a text as it is; nothing of them if the command prints nothing. */
export interface Result extends End {
  readonly output?: Output;
  readonly rows?: readonly Row[] | Rows;
  /** The only row is a record: one object in json. */
  readonly isOne?: boolean;
  readonly text?: string;
  /** Called when everything was printed, or failed. */
  readonly close?: () => void;
}

/**
 * Prints the result, does what follows, and throws its error.
 *
 * If the pipe was closed, or there was no value for --get, the result's error counts more: what
 * follows is still done, and `error` thrown. Without an `error`, that failure is thrown at once. So
 * is every other failure, such as a full disk, with `done` as its hint.
 *
 * @returns the exit code. @throws its error, BrokenPipeError, ImgctlError
 */
export async function showResult(context: Context, result: Result): Promise<number> {
  const { console } = context;
  const { output, text, isOne } = result;
  // Until the last row, what the command has returned is all that is known.
  let end: End = result;
  const place = {
    sink: console.stdout,
    terminal: () => context.terminal,
    footer: (hidden: readonly string[]) => console.footer(footerText(end.summary, hidden, output)),
  };
  const print = async () => {
    if (text !== undefined) await writeText(place.sink, [text]);
    if (!output || !result.rows) return;
    const list = listWriter(output, place, isOne);
    end = await writeRows(result, list.write);
    await list.end(end.meta);
  };
  try {
    try {
      await print();
    } catch (error) {
      const isMinor = hasCode(error, 'not-found') || error instanceof BrokenPipeError;
      if (!isMinor) throw withDone(error, end.done);
      if (end.error === undefined) throw error;
    }
    await end.afterwards?.();
  } finally {
    result.close?.();
  }
  if (end.error !== undefined) throw end.error;
  return end.exitCode ?? 0;
}

/** Returns `3 images; hidden: size, folder (--no-trunc)`, or less. */
export function footerText(
  summary: string | undefined,
  hidden: readonly string[],
  output: Pick<Output, 'takesColumns'> | undefined,
): string {
  const toSeeAll = output?.takesColumns ? '--no-trunc' : '-o json';
  const dropped = hidden.length > 0 && `hidden: ${hidden.join(', ')} (${toSeeAll})`;
  return [summary, dropped].filter(Boolean).join('; ');
}

/** Adds what was done to the error of a failed write. */
function withDone(error: unknown, done: End['done']): unknown {
  return done && error instanceof ImgctlError ? error.with({ facts: done }) : error;
}

/** Writes the rows, as they come if they do. @returns what is known after the last one */
async function writeRows(
  result: Result,
  write: (rows: readonly Row[]) => Promise<void>,
): Promise<End> {
  const { rows = [] } = result;
  if (!('next' in rows)) {
    await write(rows);
    return result;
  }
  let step = await rows.next();
  while (!step.done) {
    try {
      await write(step.value);
    } catch (error) {
      step = await rows.throw(error);
      continue;
    }
    step = await rows.next();
  }
  return step.value;
}

/** Reads the rows of a result, for programs. @returns its end */
export async function readResult(
  result: Result,
  receive: (row: Row, output: Output) => void,
): Promise<End> {
  const { output } = result;
  if (!output) return result;
  return writeRows(result, async (rows) => {
    for (const row of rows) receive(row, output);
  });
}

/**
 * Returns the value of `key` alone, or with -o or --json the whole record. A format in the settings
 * or the environment does not count, since `$(imgctl token)` must be the token.
 */
export function oneValue(
  context: Context,
  columns: readonly Column[],
  record: Row,
  key: string,
): Result {
  if (!context.given.has('output') || context.quiet) return { text: `${record[key]}\n` };
  return { output: context.output(columns), rows: [record], isOne: true };
}
