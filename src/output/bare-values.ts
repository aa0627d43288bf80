// Writes the bare values of one field, for scripts.

import { ImgctlError } from '../errors.ts';
import type { Sink } from '../io.ts';
import { cellText, printable } from './text.ts';

/**
 * Returns a writer of one line per row. All rows are read first, so that nothing is written if a value is missing.
 * @throws ImgctlError not-found, at the end
 */
export function createBareWriter<Row>(field: string, valueIn: (row: Row) => unknown, sink: Sink) {
  const lines: string[] = [];
  let missing = 0;
  return {
    async write(rows: readonly Row[]): Promise<void> {
      for (const row of rows) {
        const value = valueIn(row) ?? undefined;
        if (value === undefined) missing += 1;
        else lines.push(`${bareText(value, sink.isTTY)}\n`);
      }
    },
    async end(): Promise<void> {
      if (missing > 0) throw missingValue(field, missing, missing + lines.length);
      if (lines.length > 0) await sink.write(lines.join(''));
    },
  };
}

/** Like tsv: a line break would look like another value. */
function bareText(value: unknown, onTerminal: boolean): string {
  const text = cellText(value).replace(/[\r\n]/g, ' ');
  return onTerminal ? printable(text) : text;
}

function missingValue(field: string, missing: number, count: number): ImgctlError {
  const message =
    count === 1
      ? `there is no value of ${field}`
      : `${missing} of ${count} results have no ${field}`;
  return new ImgctlError('not-found', message, { hint: 'omit --get to see all fields' });
}
