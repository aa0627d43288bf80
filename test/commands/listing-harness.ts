// Services to list images from: the emulator for a whole file of tests, a scripted server for one test.

import type { Image, Pages } from '../../src/api/types.ts';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { cataloguePage } from '../support/catalogue-page.ts';
import { type CliResult, type FakeIoOptions, runCli, temporaryDirectory } from '../support/io.ts';
import {
  type Handler,
  type ScriptedResponse,
  type ScriptedServer,
  scriptedServer,
} from '../support/scripted-server.ts';

type Environment = Readonly<Record<string, string>>;

/** An emulator, and the environment of a user who is logged in to it. */
export async function startCatalogue(
  options: EmulatorOptions,
): Promise<{ env: Environment; close: () => Promise<void> }> {
  const { baseUrl, close } = await startEmulator(options);
  const env = { IMGCTL_BASE_URL: baseUrl, IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
  const { stdout } = await runCli(['token'], { env });
  return { env: { IMGCTL_BASE_URL: baseUrl, IMGCTL_TOKEN: stdout.trim() }, close };
}

export interface ScriptedRun {
  readonly server: ScriptedServer;
  /** Runs imgctl against the server; sleeps take no time. */
  readonly imgctl: (line: string, io?: FakeIoOptions) => Promise<CliResult>;
  /** The pages that were asked for, in the order the requests came. */
  readonly pages: () => readonly number[];
}

/** A command line without quotes as arguments. */
export function wordsOf(line: string): string[] {
  return line.split(' ').filter((word) => word !== '');
}

/** A scripted server; imgctl sends it one request at a time, so that their order is certain. */
export async function scripted(handler: Handler): Promise<ScriptedRun> {
  const server = await scriptedServer(handler);
  const env = {
    IMGCTL_BASE_URL: server.baseUrl,
    IMGCTL_TOKEN: 'T',
    IMGCTL_CONFIG_DIR: temporaryDirectory(),
  };
  await runCli(['config', 'set', 'concurrency', '1'], { env });
  return {
    server,
    imgctl: (line, io) => runCli(wordsOf(line), { time: 0, ...io, env: { ...env, ...io?.env } }),
    pages: () => server.requests.map(({ url }) => Number(url.searchParams.get('page'))),
  };
}

/** Answers with pages of these images; filters and sorts are echoed, but not applied. */
export function catalogueOf(images: readonly Image[], changes?: Partial<Pages>): Handler {
  return ({ url }) => ({ json: cataloguePage(url, images, changes) });
}

/** The page of a request, with meta.filter and meta.sort left out or replaced. */
export function pageWithEcho(
  url: URL,
  images: readonly Image[],
  echo: { readonly filter?: unknown; readonly sort?: unknown },
): ScriptedResponse {
  const page = cataloguePage(url, images);
  const { filter: _filter, sort: _sort, ...meta } = page.meta;
  return { json: { ...page, meta: { ...meta, ...echo } } };
}

/** The ids of a list in JSON, one array or an object a line. */
export function idsOf(stdout: string): readonly unknown[] {
  const text = stdout.trim();
  const rows = text.startsWith('[') ? text : `[${text.split('\n').join(',')}]`;
  return (JSON.parse(rows) as { id: unknown }[]).map(({ id }) => id);
}
