// What bundle.ts runs in other processes: `write <file>`, `modes <file>` and `hold <file>`.

import fs from 'node:fs';
import { writeJsonFile } from '../../src/files/json-file.ts';
import { withLock } from '../../src/files/lock.ts';
import { processIo } from '../../src/io.ts';

/** Writes 4000 bytes and prints how it went. */
async function write(file: string): Promise<void> {
  const result = await writeJsonFile(file, { text: 'x'.repeat(4_000) }).then(
    () => 'written',
    (error: NodeJS.ErrnoException) => `failed: ${error.code}`,
  );
  process.stdout.write(`${result}\n`);
}

/** Writes, and prints the mode that each file had as it was made. */
async function modes(file: string): Promise<void> {
  const open = fs.openSync;
  // Before the library is loaded, which keeps hold of the function that it finds.
  fs.openSync = (...args: Parameters<typeof open>) => {
    const descriptor = open(...args);
    const { size, mode } = fs.fstatSync(descriptor);
    if (size === 0) process.stdout.write(`made with ${(mode & 0o777).toString(8)}\n`);
    return descriptor;
  };
  await write(file);
}

/** Writes, then holds the lock until it is interrupted, and prints what it does. */
async function hold(file: string): Promise<void> {
  const io = processIo(process);
  await write(file);
  await withLock(file, 1_000, io, async () => {
    const listeners = process.listenerCount('SIGINT') + process.listenerCount('SIGTERM');
    process.stdout.write(`${listeners} listeners, holding\n`);
    await io.sleep(60_000, io.signal).catch((error: Error) => {
      process.stdout.write(`${error.message}\n`);
    });
  });
  process.stdout.write('released\n');
}

const [action = '', file = ''] = process.argv.slice(2);
const actions: Record<string, (file: string) => Promise<void>> = { write, modes, hold };
void actions[action]?.(file);
