// Reports changes: their rows with the old values, their number, or that there are none.

import type { ReceivedImage } from '../../../api/types.ts';
import type { Result } from '../../../cli/result.ts';
import type { Context } from '../../../context.ts';
import { CHANGES_EXIT_CODE } from '../../../errors.ts';
import type { Output } from '../../../output/output.ts';
import { cellText } from '../../../output/text.ts';
import type { Query } from '../../../query/query.ts';
import type { Tally } from '../../../query/tally.ts';
import { counted } from '../../../words.ts';
import { reportNoMatch } from '../empty.ts';
import { type Change, changedFields, isTimeField } from './compare.ts';
import type { StateOptions } from './state.ts';

export interface FoundChanges {
  readonly changes: readonly Change[];
  /** True if no image matches the query now. */
  readonly isEmpty: boolean;
  readonly tally: Tally;
  /** When the old images were listed (epoch milliseconds); undefined in the first run. */
  readonly since: number | undefined;
}

/** What each step of a run reads. */
export interface ChangesTask {
  readonly context: Context;
  readonly options: StateOptions & { readonly exitCode?: boolean };
  readonly query: Query;
  readonly output: Output;
}

export function reportOf(
  { context, options, query, output }: ChangesTask,
  { changes, isEmpty, tally, since }: FoundChanges,
) {
  const rows = changes.map((change) => {
    const { id = null, name = null, path = null, folder = null, updated_on = null } = change.image;
    const before = beforeOf(change, context, output);
    return { change: change.change, id, name, path, folder, updated_on, before };
  });
  const afterwards = () => {
    if (isEmpty && query.conditions.length > 0) {
      // A job with a typing mistake would stay silent for ever, so its first run says so.
      const how = since === undefined ? 'report' : 'note';
      reportNoMatch(context, output, { query, tally }, how);
    } else if (since !== undefined && rows.length === 0 && output.isTableFormat) {
      context.console.note(`no changes since ${output.timeText(new Date(since).toISOString())}`);
    }
  };
  return {
    output,
    rows,
    summary: describeCounts(changes),
    afterwards,
    exitCode: options.exitCode && rows.length > 0 ? CHANGES_EXIT_CODE : 0,
  } satisfies Result;
}

/** Returns the old image as printed: whole as data, as text only its changed values. */
function beforeOf({ image, before }: Change, { io, terminal }: Context, output: Output) {
  if (before === null) return null;
  const isText = output.isTable || output.shape.kind === 'lines';
  if (!isText) return withTimes(before, output.timeText);
  const arrow = terminal.unicode ? ' → ' : ' -> ';
  const sign = output.isTable && io.stdout.isTTY ? arrow : ', now ';
  return oldValues(image, before, output, sign);
}

function withTimes(image: ReceivedImage, timeText: Output['timeText']): ReceivedImage {
  const entries = Object.entries(image);
  return Object.fromEntries(
    entries.map(([field, value]) => [field, printedValue(field, value, timeText)]),
  );
}

/** Returns the value of a field, a time in the style of --time. */
function printedValue(field: string, value: unknown, timeText: Output['timeText']): unknown {
  return isTimeField(field) && typeof value === 'string' ? timeText(value) : value;
}

/**
 * Returns the changed values, without new ones that the row shows; null of a removed image.
 *
 * - another folder, and so another path, which the row shows: `folder: linux`
 * - no longer public too: `folder: linux; public: true, now false`
 * - another data store, which it does not show: `data_store: a, now b`
 * - only another update time: `2018-07-19 12:00`
 * - another time of creation too: `created_on: 2018-07-19 12:00, now 2018-07-20 12:00; ...`
 *
 * @param sign between an old and a new value
 */
function oldValues(image: ReceivedImage, before: ReceivedImage, output: Output, sign: string) {
  const changed = changedFields(before, image);
  const places = ['name', 'folder', 'data_store'].filter((field) => changed.includes(field));
  // The path and the label have the name or the folder in them.
  const others = changed.filter((field) => ![...places, 'path', 'label'].includes(field));
  const fields = places.length > 0 ? [...places, ...others] : changed;
  const textOf = (field: string, value: unknown) =>
    cellText(printedValue(field, value, output.timeText) ?? '-');
  if (fields.join() === 'updated_on' && typeof before.updated_on === 'string') {
    return output.timeText(before.updated_on);
  }
  const texts = fields.map((field) => {
    const old = `${field}: ${textOf(field, before[field])}`;
    const isShown = output.printed.columns.some(({ name }) => name === field);
    return isShown ? old : `${old}${sign}${textOf(field, image[field])}`;
  });
  return texts.join('; ') || null;
}

/** Returns `3 changes: 2 added, 1 moved`. */
function describeCounts(changes: readonly Change[]): string {
  const kinds = (['added', 'updated', 'moved', 'removed'] as const).flatMap((kind) => {
    const count = changes.filter(({ change }) => change === kind).length;
    return count > 0 ? `${count} ${kind}` : [];
  });
  return `${counted(changes.length, 'change')}: ${kinds.join(', ')}`;
}
