// imgctl mcp: a Model Context Protocol server, for assistants and other programs.

import { setMaxListeners } from 'node:events';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { builtin, loadAllCode } from '../io.ts';
import { isObject, parseJson } from '../json.ts';
import { LIST } from '../mcp/answer.ts';
import type { RunCommand } from '../mcp/call.ts';
import { LineSink } from '../mcp/lines.ts';
import { serve } from '../mcp/server.ts';

export async function run(context: Context, options: { allowSync?: boolean }): Promise<void> {
  const { io, console, version } = context;
  loadAllCode();
  keepHeapSmall();
  if (io.stdin.isTTY) {
    console.note('serving MCP on stdin and stdout', 'start it from an MCP client; Ctrl-D ends it');
  }
  await serve({
    version,
    allowSync: options.allowSync === true,
    run: runnerOf(context),
    now: io.now,
    redact: (content, signal) => console.redaction.applyWithin(content, signal),
    input: io.stdin.stream,
    write: (text) => io.stdout.write(text),
    report: (problem) => {
      if (context.debug) console.trace(problem);
    },
    signal: io.signal,
  });
  io.signal.throwIfAborted();
}

/** A client keeps the server for days: collects garbage before the heap doubles. */
function keepHeapSmall(): void {
  builtin('node:v8').setFlagsFromString('--heap-growing-percent=25');
}

/** Each call is a run of its own, so that it finds a login or a setting that came later. */
function runnerOf({ io, rerun, options, console, debug }: Context): RunCommand {
  const { profile, baseUrl, timeout, retries, waitForToken } = options;
  const values = { profile, 'base-url': baseUrl, timeout, retries, 'wait-for-token': waitForToken };
  const flags = [
    ...(debug ? ['--debug'] : []),
    ...Object.entries(values).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    ),
  ];
  return async (words, page, signal) => {
    signal.throwIfAborted();
    const stdout = new LineSink(page);
    const stderr = new LineSink(LIST);
    const abort = new AbortController();
    setMaxListeners(0, abort.signal);
    const interrupt = () => abort.abort(new ImgctlError('interrupted', 'the call was cancelled'));
    signal.addEventListener('abort', interrupt, { once: true });
    const stdin = { isTTY: false, stream: io.stdin.stream };
    const exitCode = await rerun(
      [...flags, ...words],
      { ...io, stdin, stdout, stderr, signal: abort.signal },
      console.redaction,
    );
    signal.removeEventListener('abort', interrupt);
    if (debug) for (const line of stderr.lines) await io.stderr.write(`${line}\n`);
    const messages = stderr.lines
      .map((line) => parseJson(Buffer.from(line)).value)
      .filter(isObject);
    return { exitCode, rows: stdout.lines, count: stdout.count, messages };
  };
}
