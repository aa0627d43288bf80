// The embedded service within this process, for the running test.

import { onTestFinished } from 'vitest';
import type { EmulatorOptions } from '../../src/emulator/options.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';

/** On a port of the system's choice; closed when the test has finished. */
export async function serve(options: EmulatorOptions = {}): Promise<Emulator> {
  const emulator = await startEmulator(options);
  onTestFinished(() => emulator.close());
  return emulator;
}
