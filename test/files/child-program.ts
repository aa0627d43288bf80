// The program of bundle.ts: `write|modes <file>`, `set|hold <directory>`.

import fs from 'node:fs';
import path from 'node:path';
import { errorReason, writeJsonFile } from '../../src/files/atomic-file.ts';
import { withLock } from '../../src/files/lock.ts';
import { processIo, systemOf } from '../../src/io.ts';
import { changeProfile } from '../../src/session/profile.ts';

const io = processIo(process);
const LONG_TEXT = 'x'.repeat(4_000);

async function report(writing: Promise<void>): Promise<void> {
  const result = await writing.then(
    () => 'written',
    (error: unknown) =>
      `failed: ${error instanceof Error && error.cause ? error.message : errorReason(error)}`,
  );
  process.stdout.write(`${result}\n`);
}

const write = (file: string) => report(writeJsonFile(file, { text: LONG_TEXT }, systemOf(process)));

const set = (directory: string) =>
  report(changeProfile(directory, io, 'default', { username: LONG_TEXT }));

/** Writes, and prints the mode with which each file was created. */
async function modes(file: string): Promise<void> {
  const { openSync, writeFileSync } = fs;
  const seen = new Set<unknown>();
  const print = (created: unknown, { size, mode }: fs.Stats) => {
    if (size === 0 && !seen.has(created)) {
      process.stdout.write(`created with ${(mode & 0o777).toString(8)}\n`);
    }
    seen.add(created);
  };
  // Before conf is loaded, which holds on to the function that it finds.
  fs.openSync = (...args: Parameters<typeof openSync>) => {
    const descriptor = openSync(...args);
    print(args[0], fs.fstatSync(descriptor));
    return descriptor;
  };
  // Newer versions of Node open the file in it without openSync.
  fs.writeFileSync = (created, text, options) => {
    writeFileSync(created, '', options);
    if (typeof created === 'string') print(created, fs.statSync(created));
    writeFileSync(created, text);
  };
  await write(file);
  await set(path.dirname(file));
}

/** Changes settings, then holds a lock until it is interrupted, and prints each step. */
async function hold(directory: string): Promise<void> {
  await set(directory);
  await withLock(path.join(directory, 'token.json'), 1_000, io, async () => {
    const listeners = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    process.stdout.write(`${listeners} listeners, holding\n`);
    await io.sleep(60_000, io.signal).catch((error: Error) => {
      process.stdout.write(`${error.message}\n`);
    });
  });
  process.stdout.write('released\n');
}

const [action = '', place = ''] = process.argv.slice(2);
const actions: Record<string, (place: string) => Promise<void>> = { write, set, modes, hold };
void actions[action]?.(place);
