// The content of an answer: one page of rows with the total, small enough for a model.

import { isObject, type JsonObject, parseJsonExactly } from '../json.ts';

/** What a command printed. */
export interface Output {
  readonly exitCode: number;
  /** The rows of the page, each as JSON. */
  readonly rows: readonly string[];
  /** Number of all rows. */
  readonly count: number;
  /** Errors, warnings and notes, as a command prints them with -o json. */
  readonly messages: readonly JsonObject[];
}

export interface Page {
  readonly skip: number;
  readonly keep: number;
}

/** For commands without pages, whose few rows fit into one answer. */
export const LIST: Page = { skip: 0, keep: Number.POSITIVE_INFINITY };

export interface Answer {
  readonly content: JsonObject;
  readonly isError: boolean;
}

/** Characters: about 10,000 tokens. */
const MAX_TEXT = 40_000;

const MAX_MESSAGES = 20;

/**
 * Returns a page as `{total, offset, rows, next}`, and anything else as `{rows}` or `{record}`.
 * @param hint of the notes, instead of their own
 */
export async function answer(
  output: Output,
  page: Page | undefined,
  hint: string | undefined,
): Promise<Answer> {
  const { rows, count, exitCode, messages } = output;
  const shown = await Promise.all(firstWithin(rows, MAX_TEXT).map(parseRow));
  const end = (page?.skip ?? 0) + shown.length;
  const content = {
    ...(page && { total: count, offset: page.skip }),
    ...(page || rows.length !== 1 ? { rows: shown } : { record: shown[0] ?? null }),
    ...(end < count && { next: nextStep(end, count, page !== undefined) }),
    ...messagesOf('error', messages),
    ...messagesOf('warning', messages),
    ...messagesOf('note', messages, hint),
  };
  return { content, isError: exitCode !== 0 };
}

async function parseRow(row: string): Promise<unknown> {
  return (await parseJsonExactly(Buffer.from(row))).value;
}

/** Returns the first rows that fit together. */
function firstWithin(rows: readonly string[], characters: number): string[] {
  let left = characters;
  return rows.filter((row) => {
    left -= row.length + 1;
    return left >= 0;
  });
}

function messagesOf(kind: string, messages: readonly JsonObject[], hint?: string): JsonObject {
  const all = messages.flatMap((message) => message[kind] ?? []).slice(0, MAX_MESSAGES);
  const contents = all.map((each) => (hint && isObject(each) ? { ...each, hint } : each));
  return contents.length === 0 ? {} : { [`${kind}s`]: contents };
}

function nextStep(end: number, count: number, isPaged: boolean): string {
  const left = `${count - end} more`;
  return isPaged
    ? `${left}: call again with offset ${end}, or narrow the list with text, filter or columns`
    : `${left}, too long for one answer: ask for fewer at a time, or for fewer columns`;
}
