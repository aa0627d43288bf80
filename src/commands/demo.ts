// imgctl demo: runs login, listing and push against a temporary embedded service.

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Context } from '../context.ts';
import { startEmulator } from '../emulator/server.ts';
import { ImgctlError } from '../errors.ts';
import { errorReason } from '../files/atomic-file.ts';
import { writeSampleOva } from '../ovf/sample.ts';

export async function run(context: Context): Promise<void> {
  const folder = makeFolder();
  const uploads = path.join(folder, 'uploads');
  const emulator = await startEmulator({ uploads, syncDelay: 1_500, now: context.io.now });
  try {
    const env = {
      ...Object.fromEntries(
        Object.entries(context.io.env).filter(([name]) => !name.startsWith('IMGCTL_')),
      ),
      IMGCTL_CONFIG_DIR: path.join(folder, 'config'),
      IMGCTL_PASSWORD: 'demo',
      IMGCTL_UPLOAD_PASSWORD: 'demo',
    };
    const runCommand = async (line: string): Promise<void> => {
      await printLine(`$ imgctl ${line}`);
      const exitCode = await context.rerun(line.split(' '), { ...context.io, env, cwd: folder });
      context.io.signal.throwIfAborted();
      if (exitCode !== 0) throw new ImgctlError('failed', `the demo failed at: imgctl ${line}`);
      await printLine('');
    };
    const printLine = (line: string) => context.console.print(`${line}\n`);

    await runCommand(`login --base-url ${emulator.baseUrl} --username demo`);
    await runCommand('images list --limit 5');
    await runCommand('images list --filter name,like,%ubuntu% --sort updated_on,desc --limit 5');
    await runCommand('my-images');
    await runCommand(`config set upload-url ${emulator.uploadUrl}`);
    await runCommand('config set upload-username demo');
    await writeSampleOva(path.join(folder, 'sample.ova'));
    await runCommand('push sample.ova --poll-interval 500ms');
  } finally {
    await emulator.close();
    fs.rmSync(folder, { recursive: true, force: true });
  }
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
