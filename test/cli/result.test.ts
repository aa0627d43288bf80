// How a result is printed, and what happens if it cannot be.

import { expect, it } from 'vitest';
import { type End, type Result, type Rows, readResult, showResult } from '../../src/cli/result.ts';
import { Context } from '../../src/context.ts';
import { ImgctlError } from '../../src/errors.ts';
import { BrokenPipeError } from '../../src/io.ts';
import { column } from '../../src/output/columns.ts';
import type { Format } from '../../src/output/formats.ts';
import { fakeIo } from '../support/io.ts';

const COLUMNS = [column('id', 'number', 'identifier', { isId: true })];
const [ONE, TWO, THREE] = [{ id: 1 }, { id: 2 }, { id: 3 }];
const FAILURE = new ImgctlError('sync-failed', 'it failed');
const FULL = new ImgctlError('failed', 'the disk is full', { facts: 'free some space' });
const GONE = new BrokenPipeError();

/** Prints a result whose rows come in two pages. @param broken what each write throws from the first on */
async function shown(format: Format, end: End & { readonly late?: Error }, broken?: Error) {
  const io = fakeIo({ env: { IMGCTL_OUTPUT: format } });
  const events: string[] = [];
  const { write } = io.stdout;
  io.stdout.write = async (data) => {
    if (broken) throw broken;
    await write.call(io.stdout, data);
  };
  const context = new Context(io, { given: new Map() });
  const { late, ...known } = end;
  const rows = async function* (): Rows {
    try {
      yield [ONE, TWO];
      yield [THREE];
      if (late) throw late;
      return { ...known, afterwards: () => void events.push('afterwards') };
    } finally {
      events.push('ended');
    }
  };
  const close = () => void events.push('closed');
  const result: Result = { output: context.output(COLUMNS), rows: rows(), close };
  const outcome = await showResult(context, result).catch((error: unknown) => error);
  return { text: io.stdout.text, events: events.join(), outcome };
}

const ALL = 'ended,afterwards,closed';
const TABLE = 'id\n 1\n 2\n 3\n';
const LINES = '{"id":1}\n{"id":2}\n{"id":3}\n';
const DONE = { done: 'sync 4 was submitted' };

it.each<
  [string, Format, End & { readonly late?: Error }, Error | undefined, string, string, unknown]
>([
  ['prints rows, then does what follows', 'table', {}, undefined, TABLE, ALL, 0],
  ['returns the exit code of a success', 'ndjson', { exitCode: 10 }, undefined, LINES, ALL, 10],
  [
    'prints rows before the error that follows',
    'table',
    { error: FAILURE },
    undefined,
    TABLE,
    ALL,
    FAILURE,
  ],
  [
    'prints lines before an error that comes meanwhile',
    'ndjson',
    { late: FAILURE },
    undefined,
    LINES,
    'ended,closed',
    FAILURE,
  ],
  [
    'prints no table if reading fails',
    'table',
    { late: FAILURE },
    undefined,
    '',
    'ended,closed',
    FAILURE,
  ],
  ['does nothing more if the reader is gone', 'table', {}, GONE, '', 'ended,closed', GONE],
  ['stops reading if the reader of lines is gone', 'ndjson', {}, GONE, '', 'ended,closed', GONE],
  [
    'keeps the error that follows if the reader is gone',
    'table',
    { error: FAILURE },
    GONE,
    '',
    ALL,
    FAILURE,
  ],
  [
    'fails if the disk is full, whatever follows',
    'table',
    { error: FAILURE },
    FULL,
    '',
    'ended,closed',
    FULL,
  ],
])('showResult %s', async (_title, format, end, broken, text, events, outcome) => {
  expect(await shown(format, end, broken)).toEqual({ text, events, outcome });
});

it('showResult says what was done if the output cannot be written', async () => {
  const { outcome } = await shown('json', DONE, FULL);
  expect(outcome).toMatchObject({ message: FULL.message, facts: { text: DONE.done } });
});

it('readResult returns the values of rows, and what is known at their end', async () => {
  const context = new Context(fakeIo(), { given: new Map() });
  const output = context.output(COLUMNS);
  const rows = async function* (): Rows {
    yield [ONE];
    yield [TWO, THREE];
    return { meta: { total: 3 } };
  };
  for (const each of [[ONE, TWO, THREE], rows()]) {
    const received: unknown[] = [];
    const end = await readResult({ output, rows: each }, (row) => received.push(row));
    expect(received).toEqual([ONE, TWO, THREE]);
    if (!Array.isArray(each)) expect(end).toEqual({ meta: { total: 3 } });
  }
});
