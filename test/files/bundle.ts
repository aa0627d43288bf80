// Runs code of src/files in processes of their own, for what only another process can show.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { build, type Plugin } from 'rolldown';

/** Bundles child-program.ts into the directory, without what the program's build leaves out. */
export async function bundleChild(directory: string): Promise<string> {
  const file = path.join(directory, 'child.cjs');
  const leftOut = new URL('../../tools/left-out.mjs', import.meta.url).href;
  const { leaveOut } = (await import(leftOut)) as { leaveOut(): Required<Plugin> };
  const { name, resolveId, load } = leaveOut();
  await build({
    input: path.join(import.meta.dirname, 'child-program.ts'),
    platform: 'node',
    logLevel: 'silent',
    plugins: [{ name, resolveId, load }],
    output: { file, format: 'cjs', codeSplitting: false },
  });
  return file;
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** Runs a shell command to its end; `onOutput` gets the output so far and a way to send a signal. */
export function runShell(
  command: string,
  onOutput: (output: string, kill: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      onOutput(output, (signal) => child.kill(signal));
    });
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, output }));
  });
}
