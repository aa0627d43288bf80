// Chooses how a table looks: in colour or not, fitted to a terminal or aligned for a pipe.

import type { ColumnKind } from './table.ts';
import type { Terminal } from './terminal.ts';
import { loadStyle } from './terminal.ts';
import type { ChunkWriter } from './text.ts';

/** How a table looks on a terminal. */
export interface TerminalLook {
  /** Cuts and drops what does not fit [true]. */
  readonly trunc?: boolean | undefined;
  /** Draws frames [false]. */
  readonly boxed?: () => boolean;
  /** Called after the table, with the columns that it has no room for. */
  readonly footer?: (hidden: readonly string[]) => void;
}

interface TableOptions extends TerminalLook {
  readonly columns: readonly string[];
  readonly kinds: readonly ColumnKind[];
  readonly rows: Iterable<readonly unknown[]>;
  readonly terminal: () => Terminal;
  readonly header?: boolean | undefined;
}

export async function showTable(out: ChunkWriter, options: TableOptions): Promise<void> {
  const { columns, kinds, rows, header = true, trunc = true, boxed, footer } = options;
  const terminal = options.terminal();
  const style = await loadStyle(terminal);
  if (terminal.width === undefined) {
    const { writeTable } = await import('./table.ts');
    return writeTable(out, header ? columns : undefined, rows, kinds, style);
  }
  const { drawTable } = await import('./screen-table.ts');
  const table = { columns, kinds, rows, header, terminal, style, trunc, boxed: boxed?.() === true };
  const hidden = await drawTable(out, table);
  await out.end();
  footer?.(hidden);
}

export async function showRecord(
  out: ChunkWriter,
  record: Readonly<Record<string, unknown>>,
  kindOf: (name: string) => ColumnKind,
  terminal: Terminal,
): Promise<void> {
  const { writeRecordTable } = await import('./table.ts');
  await writeRecordTable(out, record, kindOf, await loadStyle(terminal));
}

const STATES = ['state', 'status', 'token', 'severity', 'change'];

export function columnKind(
  name: string,
  idField: string,
  timeFields: readonly string[],
): ColumnKind {
  if (name === idField) return 'id';
  if (timeFields.includes(name) || name.endsWith('_on')) return 'time';
  return STATES.includes(name) ? 'state' : 'text';
}
