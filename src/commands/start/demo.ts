// imgctl demo: runs the whole job against a temporary copy of the service.

import fs from 'node:fs';
import path from 'node:path';
import type { CommandDeclaration } from '../../cli/command-types.ts';
import { command } from '../../cli/declare.ts';
import { defaultsOf } from '../../cli/option-values.ts';
import { showResult } from '../../cli/result.ts';
import { Context } from '../../context.ts';
import type { Emulator } from '../../emulator/emulator.ts';
import { asImgctlError, errorReason, ImgctlError } from '../../errors.ts';
import { hint, imgctl } from '../../facts.ts';
import { builtin, type Sink, withWrite } from '../../io.ts';
import { defaultSettings, programName } from '../automation/emulator.ts';
import { imagesList } from '../images/list.ts';
import { inspect } from '../packages/inspect.ts';
import { push } from '../packages/push/push.ts';
import { whoami } from './whoami.ts';

export const demo = command({
  name: 'demo',
  summary: 'try imgctl on this machine, without an account',
  description: [
    'Starts a small copy of the service, logs in, finds an image, uploads a package and syncs it. Everything stays on this machine, in a temporary folder that is removed at the end.',
  ],
  examples: ['imgctl demo', 'imgctl demo --color never'],
  seeAlso: ['emulator'],
  run,
});

async function run(context: Context): Promise<void> {
  const { startEmulator, steadyClock } = await import('../../emulator/emulator.ts');
  const { sampleOva } = await import('../../emulator/sample-ova.ts');
  const folder = makeDemoFolder();
  try {
    fs.writeFileSync(path.join(folder, 'sample.ova'), sampleOva());
    const uploads = path.join(folder, 'uploads');
    const settings = { ...defaultSettings(), port: 0, uploads, syncDelay: 1_500, log: () => {} };
    const emulator = await startEmulator({ ...settings, now: steadyClock(context.io) });
    await showJob(stageIn(folder, context), emulator).finally(emulator.close);
  } catch (error) {
    if (!context.io.signal.aborted) throw error;
    const reason = asImgctlError(context.io.signal.reason);
    throw reason.with({
      message: `demo ${reason.code}; nothing was left behind`,
      facts: undefined,
    });
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Where the commands of the demo run. */
interface Stage {
  /** The run of the demo itself. */
  readonly context: Context;
  readonly io: Context['io'];
  /** The variables of `io`, which the demo sets as a user does. */
  readonly env: Record<string, string | undefined>;
}

/** Without the variables and settings of the user. */
function stageIn(folder: string, context: Context): Stage {
  const others = Object.entries(context.io.env).filter(([name]) => !name.startsWith('IMGCTL_'));
  const env: Stage['env'] = Object.fromEntries(others);
  env.IMGCTL_CONFIG_DIR = path.join(folder, 'config');
  const io = { ...context.io, env, cwd: folder, stderr: silencedBy(context.io) };
  return { context, io, env };
}

async function showJob(stage: Stage, { baseUrl, uploadUrl = '' }: Emulator): Promise<void> {
  const print = (text: string) => stage.context.console.print(text);
  const files = ['sample.ova'];
  await print('# Log in to a copy of the service on this machine, in this terminal only.\n');
  const account = { IMGCTL_USERNAME: 'demo', IMGCTL_PASSWORD: 'demo' };
  await setVariables(stage, { IMGCTL_BASE_URL: baseUrl, ...account });
  await show(stage, 'imgctl whoami --check', whoami, { check: true });
  await print('# Find a public image.\n');
  const newest = { sort: ['updated_on,desc'], limit: 5 };
  const line = 'imgctl images list ubuntu 24.04 -s updated_on,desc -n 5';
  await show(stage, line, imagesList, newest, ['ubuntu', '24.04']);
  await print('# Show what a package contains.\n');
  await show(stage, 'imgctl inspect sample.ova', inspect, {}, files);
  await print('# Upload it and sync; the result is the new image.\n');
  const uploader = { IMGCTL_UPLOAD_USERNAME: 'demo', IMGCTL_UPLOAD_PASSWORD: 'demo' };
  await setVariables(stage, { IMGCTL_UPLOAD_URL: uploadUrl, ...uploader });
  const pushLine = 'imgctl push sample.ova --poll-interval 500ms';
  await show(stage, pushLine, push, { pollInterval: 500 }, files);
  const program = programName(stage.context.io);
  await print(`# Now try it yourself: ${program} emulator --uploads uploads --sample\n`);
  await print(`# Or use your service: ${program} login\n`);
}

async function setVariables({ context, env }: Stage, variables: Readonly<Record<string, string>>) {
  Object.assign(env, variables);
  const words = Object.entries(variables).map((each) => each.join('='));
  await context.console.print(`$ export ${words.join(' ')}\n`);
}

/** Prints the line of a command, and runs it. @throws ImgctlError failed: it fails */
async function show(
  { context, io }: Stage,
  line: string,
  command: CommandDeclaration,
  options: object,
  ...words: readonly unknown[]
): Promise<void> {
  await context.console.print(`$ ${line}\n`);
  const run = new Context(io, { color: context.color, given: new Map() });
  try {
    const given = { ...defaultsOf(command.options ?? []), ...options };
    const result = await command.run?.(run, given, ...words);
    if (result) await showResult(run, result);
    // What the outer run prints next has to come after the last message.
    await run.console.flush();
  } catch (error) {
    await run.console.fail(error);
    throw new ImgctlError('failed', `the demo failed at: ${line}`);
  } finally {
    await run.close();
  }
  context.io.signal.throwIfAborted();
  await context.console.print('\n');
}

/** Writes nothing after an interrupt: the hints of a command are wrong once the demo is deleted. */
function silencedBy({ signal, stderr }: Context['io']): Sink {
  return withWrite(stderr, async (text: string) => {
    if (!signal.aborted) await stderr.write(text);
  });
}

/** Bytes, more than a demo writes. */
const NEEDED_SPACE = 2 ** 20;

/** @throws ImgctlError config: TMPDIR is missing, not a folder, not writable or full */
function makeDemoFolder(): string {
  const parent = builtin('node:os').tmpdir();
  try {
    const { bavail, bsize } = fs.statfsSync(parent);
    if (bavail * bsize < NEEDED_SPACE) throw new Error('no space left on device');
    return fs.mkdtempSync(path.join(parent, 'imgctl-demo-'));
  } catch (cause) {
    const message = `cannot use ${parent} for the demo: ${errorReason(cause)}`;
    const facts = hint`set TMPDIR to a writable folder with free space: TMPDIR="$HOME" ${imgctl('demo')}`;
    throw new ImgctlError('config', message, { facts, cause });
  }
}
