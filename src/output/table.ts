// Formats aligned tables for pipes, and records as keys and values.

import { cellText, printable } from './sanitize.ts';
import { type Paint, PLAIN, type Style, stateStyle } from './style.ts';
import { displayWidth } from './terminal.ts';

export const GAP = '  ';

/** What a column holds, which decides about its colour, and whether its values may be cut. */
export type ColumnKind = 'id' | 'time' | 'state' | 'text';

/** Aligns numbers to the right and shows null as `-`. Nothing is cut. */
export function tableText(
  header: readonly string[] | undefined,
  rows: readonly (readonly unknown[])[],
  kinds: readonly ColumnKind[],
  style: Style,
): string {
  const body = rows.map((row) => row.map(tableCell));
  const names = header?.map(printable);
  const widths = naturalWidths(names ? [names, ...body] : body);
  const numeric = widths.map((_, column) => isNumeric(rows, column));
  const line = (cells: readonly string[], paints: readonly Paint[] | undefined) => {
    const aligned = cells.map((cell, column) => {
      const padding = ' '.repeat((widths[column] ?? 0) - displayWidth(cell));
      const text = paints?.[column]?.(cell) ?? cell;
      return numeric[column] ? padding + text : text + padding;
    });
    return withoutTrailingSpace(aligned.join(GAP));
  };
  const paints = style === PLAIN ? undefined : kinds.map((kind) => cellPaint(kind, style));
  const head = names
    ? [line(names, style === PLAIN ? undefined : names.map(() => style.faint))]
    : [];
  return [...head, ...body.map((cells) => line(cells, paints)), ''].join('\n');
}

/** Shows a field per line. */
export function recordText(
  record: Readonly<Record<string, unknown>>,
  kindOf: (name: string) => ColumnKind,
  style: Style,
): string {
  const fields = Object.entries(record).map(([key, value]) => ({
    name: printable(key),
    text: cellPaint(kindOf(key), style)(tableCell(value)),
  }));
  const width = Math.max(0, ...fields.map(({ name }) => displayWidth(name)));
  return fields
    .map(({ name, text }) => {
      const padding = ' '.repeat(width - displayWidth(name));
      return `${withoutTrailingSpace(`${style.faint(name)}${padding}${GAP}${text}`)}\n`;
    })
    .join('');
}

export function cellPaint(kind: ColumnKind, style: Style): Paint {
  return (text) => {
    if (text === '' || style === PLAIN) return text;
    if (text === '-' || kind === 'time') return style.faint(text);
    if (kind === 'id') return style.id(text);
    return kind === 'state' ? stateStyle(text, style)(text) : text;
  };
}

/** The bar protects the start of the line: numbers begin with spaces. */
function withoutTrailingSpace(line: string): string {
  return line.slice(0, `|${line}`.trim().length - 1);
}

export function tableCell(value: unknown): string {
  return value === null || value === undefined ? '-' : printable(cellText(value));
}

export function isNumeric(rows: readonly (readonly unknown[])[], column: number): boolean {
  const values = rows.map((row) => row[column]).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => typeof value === 'number');
}

export function naturalWidths(lines: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const line of lines) {
    for (const [column, cell] of line.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell));
    }
  }
  return widths;
}
