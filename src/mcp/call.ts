// Calls a tool: runs its command, and answers with one page of its rows.

import { isObject, type JsonObject, parseJsonExactly } from '../json.ts';
import { jsonText } from '../output/text.ts';
import { planQuery } from '../query/plan.ts';
import { type Answer, answer, LIST, type Output, type Page } from './answer.ts';
import type { ToolArguments } from './arguments.ts';
import { checkArguments, DEFAULT_LIMIT, type Tool } from './tools.ts';

/** Runs a command line; its rows are the lines of stdout. */
export type RunCommand = (
  words: readonly string[],
  page: Page,
  signal: AbortSignal,
) => Promise<Output>;

export interface CallOptions {
  readonly run: RunCommand;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** @throws ImgctlError usage: invalid arguments */
export async function callTool(tool: Tool, given: unknown, options: CallOptions): Promise<Answer> {
  const values = checkArguments(tool, given);
  const { limit = DEFAULT_LIMIT, offset = 0 } = values;
  const page = tool.paged ? { skip: offset, keep: limit } : undefined;
  const counted = tool.countsCheaply && page && (await readCounted(tool, values, page, options));
  const output = counted || (await readAll(tool, values, page ?? LIST, options));
  return answer(output, page, tool.next);
}

/** Reads every row, and keeps those of the page. */
function readAll(tool: Tool, values: ToolArguments, page: Page, { run, signal }: CallOptions) {
  return run([...tool.command, '--output=ndjson', ...tool.words(values)], page, signal);
}

/**
 * Reads the list up to the end of the page, and takes the total from the service.
 * @returns undefined if imgctl filters or sorts itself: then only the whole list has a total
 */
async function readCounted(
  tool: Tool,
  values: ToolArguments,
  { skip, keep }: Page,
  { run, now, signal }: CallOptions,
): Promise<Output | undefined> {
  const { text: words = [], filter: filters = [], sort: sorts = [] } = values;
  const plan = planQuery({ words, filters, sorts }, { now: now() });
  if (plan.filtersLocally || plan.sortsLocally) return undefined;
  const limited = ['--output=json', '--meta', `--limit=${skip + keep}`];
  const output = await run([...tool.command, ...limited, ...tool.words(values)], LIST, signal);
  if (output.exitCode !== 0) return output;
  const list = await parseJsonExactly(Buffer.from(output.rows.join('')));
  const { data, meta } = isObject(list.value) ? list.value : ({} as JsonObject);
  const { filter, sort, pages } = isObject(meta) ? meta : ({} as JsonObject);
  const count = isObject(pages) ? pages.total : undefined;
  const isConfirmed =
    (plan.server.filter === undefined || filter !== undefined) &&
    (plan.server.sort === undefined || sort !== undefined);
  if (!isConfirmed || typeof count !== 'number' || !Array.isArray(data)) return undefined;
  return { ...output, rows: data.slice(skip).map((row) => jsonText(row, 0)), count };
}
