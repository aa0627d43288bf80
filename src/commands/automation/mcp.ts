// imgctl mcp: a Model Context Protocol server, for assistants and other programs.

import { setMaxListeners } from 'node:events';
import { version } from '../../../package.json';
import { type CommandDeclaration, lines, terms } from '../../cli/command-types.ts';
import { command, option } from '../../cli/declare.ts';
import { defaultsOf } from '../../cli/option-values.ts';
import { readResult } from '../../cli/result.ts';
import { Given } from '../../config/settings.ts';
import { Context } from '../../context.ts';
import { asImgctlError } from '../../errors.ts';
import type { Sink } from '../../io.ts';
import { isObject } from '../../json.ts';
import type { Call, ServerOptions, ToolName } from '../../mcp/server.ts';
import type { Message } from '../../output/messages.ts';
import { imagesGet } from '../images/get.ts';
import { imagesLatest } from '../images/latest.ts';
import { imagesList, myImages } from '../images/list.ts';
import { inspect } from '../packages/inspect.ts';
import { sync } from '../packages/sync/sync.ts';
import { syncStatus } from '../packages/sync/sync-status.ts';

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
    call: callerOf(context),
    input: io.stdin.stream,
    write: (text) => io.stdout.write(text),
    report: console.debug,
    signal: io.signal,
  });
  io.signal.throwIfAborted();
}

const COMMANDS: Readonly<Record<ToolName, CommandDeclaration>> = {
  images_list: imagesList,
  images_get: imagesGet,
  images_latest: imagesLatest,
  my_images: myImages,
  sync_status: syncStatus,
  package_inspect: inspect,
  sync,
};

/** Each call is a run of its own, so that it finds a login or a setting that came later. */
function callerOf({ io, given, console, profile, color, debug }: Context): ServerOptions['call'] {
  const json = new Given('json', 'json', '--output');
  const run = { profile, color, debug, given: new Map(given).set('output', json) };
  const silent = { isTTY: false, columns: undefined, write: async () => {} };
  const write: Sink['write'] = (data) => io.stderr.write(data);
  const stderr = debug ? { ...silent, write } : silent;
  return async (call, limit, signal) => {
    setMaxListeners(0, signal);
    const messages: Message[] = [];
    const receive = (message: Message) => void messages.push(message);
    const stdin = { isTTY: false, stream: io.stdin.stream };
    const streams = { stdin, stdout: silent, stderr };
    const own = new Context({ ...io, ...streams, signal }, { ...run, receive }, console.redaction);
    const found = await collect(own, call, limit);
    await own.close().catch(() => {});
    return { ...found, messages };
  };
}

/** Calls the command of a tool, and collects its rows. */
async function collect(context: Context, { tool, options, words }: Call, limit: number) {
  const command = COMMANDS[tool];
  const rows: unknown[] = [];
  let total: number | null = 0;
  try {
    const given = { ...defaultsOf(command.options ?? []), ...options };
    const result = await command.run?.(context, given, ...words);
    if (!result) return { exitCode: 0, rows, total };
    const end = await readResult(result, (row, output) => {
      if (rows.length < limit) rows.push(output.data(row));
      total = (total ?? 0) + 1;
    });
    const { meta } = end;
    if (isObject(meta)) total = typeof meta.total === 'number' ? meta.total : null;
    await end.afterwards?.();
    if (end.error !== undefined) throw end.error;
    return { exitCode: 0, rows, total };
  } catch (thrown) {
    await context.console.fail(thrown);
    return { exitCode: asImgctlError(thrown).exitCode, rows, total };
  }
}
