// One record, in any format.

import { dataOf, pickFields, type Row } from './cells.ts';
import { documentText, writeText } from './document.ts';
import type { RecordOptions } from './format.ts';
import { createListWriter } from './list.ts';
import { loadBold } from './terminal.ts';

/** Shows a record: keys and values in a table, one object in json and yaml, one line in the others. */
export async function writeRecord(options: RecordOptions, record: Row): Promise<void> {
  const { sink, format, quiet, times, columns = Object.keys(record) } = options;
  if (!quiet && (format === 'json' || format === 'ndjson' || format === 'yaml')) {
    await writeText(sink, await documentText(format, dataOf(record, options)));
  } else if (!quiet && format === 'table') {
    const { recordText } = await import('./table.ts');
    const fields = pickFields(record, columns, times);
    await writeText(sink, recordText(fields, await loadBold(options.terminal)));
  } else {
    const list = createListWriter({ ...options, columns });
    await list.write([record]);
    await list.end();
  }
}
