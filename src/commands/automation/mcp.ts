// imgctl mcp: a Model Context Protocol server, for assistants and other programs.

import { setMaxListeners } from 'node:events';
import { version } from '../../../package.json';
import { command, option } from '../../cli/command.ts';
import { lines, terms } from '../../cli/declarations.ts';
import type { Context } from '../../context.ts';
import type { ServerOptions } from '../../mcp/server.ts';

export const mcp = command({
  name: 'mcp',
  summary: 'let AI assistants list images (MCP)',
  description: [
    'Speaks the Model Context Protocol on standard input and output. A client starts it, and stops it by closing its input. It uses the login and settings of the other commands, and never prompts.',
    'Configure a client with:',
    lines('{"mcpServers": {"imgctl": {"command": "imgctl", "args": ["mcp"]}}}'),
  ],
  details: [
    'Tools:',
    terms(
      ['images_list', 'list public images, with the total'],
      ['images_get', 'show images with all fields'],
      ['images_latest', 'show the newest image of a series'],
      ['my_images', 'list your own images'],
      ['sync_status', 'show sync requests'],
      ['package_inspect', 'show the contents of a local OVA or OVF'],
      ['sync', 'submit an image sync; only with --allow-sync'],
    ),
  ],
  examples: ['imgctl mcp', 'imgctl mcp --profile staging --allow-sync'],
  seeAlso: ['login', 'help output'],
  options: [option('--allow-sync', 'add a tool that submits image syncs')],
  run: (context, { allowSync = false }) => run(context, allowSync),
});

async function run(context: Context, allowSync: boolean): Promise<void> {
  const { io, console } = context;
  if (io.stdin.isTTY) {
    console.note('serving MCP on stdin and stdout', 'start it from an MCP client; Ctrl-D ends it');
  }
  // Calls run at the same time: one without a login could print the secret of another.
  for (const secret of [io.env.IMGCTL_PASSWORD, io.env.IMGCTL_TOKEN]) {
    console.redaction.add(secret ?? '');
  }
  const { serve } = await import('../../mcp/server.ts');
  await serve({
    version,
    allowSync,
    run: runnerOf(context),
    input: io.stdin.stream,
    write: (text) => io.stdout.write(text),
    report: (problem) => {
      if (context.debug) console.trace(problem);
    },
    signal: io.signal,
  });
  io.signal.throwIfAborted();
}

/** Each call is a run of its own, so that it finds a login or a setting that came later. */
function runnerOf(context: Context): ServerOptions['run'] {
  const { io, rerun, console, debug } = context;
  const { profile } = context.options;
  const flags = [
    ...(debug ? ['--debug'] : []),
    ...(profile === undefined ? [] : [`--profile=${profile}`]),
    // Each tool has a format of its own.
    ...[...context.given]
      .filter(([key]) => key !== 'output')
      .map(([, { origin, text }]) => `${origin}=${text}`),
  ];
  return async (words, limit, signal) => {
    setMaxListeners(0, signal);
    const stdin = { isTTY: false, stream: io.stdin.stream };
    const stdout = lineSink(limit);
    const stderr = lineSink(Number.POSITIVE_INFINITY);
    const own = { ...io, stdin, stdout, stderr, signal };
    const exitCode = await rerun([...flags, ...words], own, console.redaction);
    if (debug) for (const line of stderr.lines) await io.stderr.write(`${line}\n`);
    // A trace is no JSON.
    const messages = stderr.lines.filter((line) => line.startsWith('{'));
    return { exitCode, rows: stdout.lines, total: stdout.count, messages };
  };
}

/** Counts the lines written to it, and keeps the first ones. */
function lineSink(limit: number) {
  const decoder = new TextDecoder();
  let partial: string[] = [];
  const sink = {
    isTTY: false,
    columns: undefined,
    lines: [] as string[],
    count: 0,
    async write(data: string | Uint8Array): Promise<void> {
      const text = typeof data === 'string' ? data : decoder.decode(data, { stream: true });
      const [first = '', ...rest] = text.split('\n');
      partial.push(first);
      for (const start of rest) {
        if (sink.count < limit) sink.lines.push(partial.join(''));
        partial = [start];
        sink.count += 1;
      }
    },
  };
  return sink;
}
