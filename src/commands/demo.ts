// imgctl demo: runs login, listing and sync against a temporary embedded service.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Context } from '../context.ts';
import { startEmulator } from '../emulator/server.ts';
import { asImgctlError, ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import type { Sink } from '../io.ts';
import { counted } from '../output/messages.ts';
import { writeSampleOva } from '../ovf/sample.ts';

export async function run(context: Context): Promise<void> {
  const folder = makeFolder();
  const uploads = path.join(folder, 'uploads');
  fs.mkdirSync(path.join(uploads, 'demo'), { recursive: true });
  const emulator = await startEmulator({ uploads, syncDelay: 1_500, now: context.io.now });
  try {
    const env = {
      ...Object.fromEntries(
        Object.entries(context.io.env).filter(([name]) => !name.startsWith('IMGCTL_')),
      ),
      IMGCTL_CONFIG_DIR: path.join(folder, 'config'),
      IMGCTL_PASSWORD: 'demo',
    };
    const io = { ...context.io, env, stderr: silencedBy(context.io.signal, context.io.stderr) };
    const runCommand = async (line: string): Promise<void> => {
      await printLine(`$ imgctl ${line}`);
      const exitCode = await context.rerun(line.split(' '), io);
      context.io.signal.throwIfAborted();
      if (exitCode !== 0) throw new ImgctlError('failed', `the demo failed at: imgctl ${line}`);
      await printLine('');
    };
    const printLine = (line: string) => context.console.print(`${line}\n`);

    await runCommand(`login --base-url ${emulator.baseUrl} --username demo`);
    await runCommand('images list --limit 5');
    await runCommand('images list --filter name,like,%ubuntu% --sort updated_on,desc --limit 5');
    await runCommand('my-images');
    const file = path.join(uploads, 'demo', 'sample.ova');
    await writeSampleOva(file);
    await printLine(`# uploaded: sample.ova, ${counted(fs.statSync(file).size, 'byte')}`);
    await runCommand('sync --wait --poll-interval 500ms');
    await runCommand('my-images');
  } catch (error) {
    throw context.io.signal.aborted ? stopped(asImgctlError(context.io.signal.reason)) : error;
  } finally {
    await emulator.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

function stopped(reason: ImgctlError): ImgctlError {
  const how = reason.code === 'terminated' ? 'terminated' : 'interrupted';
  return reason.with({ message: `demo ${how}; nothing was left behind`, hint: undefined });
}

/** Passes on only what moves or erases after an interrupt: the hints of the command lead nowhere then. */
function silencedBy(signal: AbortSignal, sink: Sink): Sink {
  return {
    get isTTY() {
      return sink.isTTY;
    },
    get columns() {
      return sink.columns;
    },
    async write(text) {
      const [controls = ''] = /^(?:\r|\u001b\[[\d;?]*[A-Za-z])*/.exec(text) ?? [];
      await sink.write(signal.aborted ? controls : text);
    },
  };
}

/** @throws ImgctlError config: TMPDIR is missing, not a folder or not writable */
function makeFolder(): string {
  const parent = os.tmpdir();
  try {
    return fs.mkdtempSync(path.join(parent, 'imgctl-demo-'));
  } catch (cause) {
    const message = `cannot create a folder in ${parent}: ${errorReason(cause)}`;
    const hint = 'set TMPDIR to a writable folder, for example: TMPDIR=/tmp imgctl demo';
    throw new ImgctlError('config', message, { hint, cause });
  }
}
