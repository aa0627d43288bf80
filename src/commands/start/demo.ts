// imgctl demo: runs the whole job against a temporary copy of the service.

import fs from 'node:fs';
import path from 'node:path';
import { command } from '../../cli/command.ts';
import type { Context } from '../../context.ts';
import { asImgctlError, errorReason, ImgctlError } from '../../errors.ts';
import { builtin, type Sink, withWrite } from '../../io.ts';
import { defaultSettings, programName } from '../automation/emulator.ts';

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
  fs.writeFileSync(path.join(folder, 'sample.ova'), sampleOva());
  const uploads = path.join(folder, 'uploads');
  const settings = { ...defaultSettings(), port: 0, uploads, syncDelay: 1_500, log: () => {} };
  const emulator = await startEmulator({ ...settings, now: steadyClock(context.io) });
  try {
    const others = Object.entries(context.io.env).filter(([name]) => !name.startsWith('IMGCTL_'));
    const own = { ...Object.fromEntries(others), IMGCTL_CONFIG_DIR: path.join(folder, 'config') };
    const env: Record<string, string | undefined> = own;
    const io = { ...context.io, env, cwd: folder, stderr: silencedBy(context.io) };
    const program = programName(context.io);
    const { color } = context.options;
    const flags = color === undefined ? [] : ['--color', color];
    const step = async (title: string, ...lines: readonly string[]): Promise<void> => {
      await context.console.print(`# ${title}\n`);
      for (const line of lines) {
        const [first = '', ...words] = line.split(' ');
        await context.console.print(`$ ${line}\n`);
        if (first === 'export') {
          for (const word of words) Object.assign(env, variableOf(word));
          continue;
        }
        const exitCode = await context.rerun([...words, ...flags], io);
        context.io.signal.throwIfAborted();
        if (exitCode !== 0) throw new ImgctlError('failed', `the demo failed at: ${line}`);
      }
      await context.console.print('\n');
    };
    await step(
      'Log in to a copy of the service on this machine, in this terminal only.',
      `export IMGCTL_BASE_URL=${emulator.baseUrl} IMGCTL_USERNAME=demo IMGCTL_PASSWORD=demo`,
      'imgctl whoami --check',
    );
    await step('Find a public image.', 'imgctl images list ubuntu 24.04 -s updated_on,desc -n 5');
    await step('Show what a package contains.', 'imgctl inspect sample.ova');
    await step(
      'Upload it and sync; the result is the new image.',
      `export IMGCTL_UPLOAD_URL=${emulator.uploadUrl} IMGCTL_UPLOAD_USERNAME=demo IMGCTL_UPLOAD_PASSWORD=demo`,
      'imgctl push sample.ova --poll-interval 500ms',
    );
    await context.console.print(
      `# Now try it yourself: ${program} emulator --uploads uploads --sample\n# Or use your service: ${program} login\n`,
    );
  } catch (error) {
    if (!context.io.signal.aborted) throw error;
    const reason = asImgctlError(context.io.signal.reason);
    throw reason.with({ message: `demo ${reason.code}; nothing was left behind`, hint: undefined });
  } finally {
    await emulator.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Parses `NAME=value`. */
function variableOf(word: string): Readonly<Record<string, string>> {
  const [name = '', value = ''] = word.split(/=(.*)/s);
  return { [name]: value };
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
    const hint = 'set TMPDIR to a writable folder with free space: TMPDIR="$HOME" imgctl demo';
    throw new ImgctlError('config', message, { hint, cause });
  }
}
