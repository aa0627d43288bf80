// Programs of the session module in processes of their own, for what only another process can show.

import { spawn } from 'node:child_process';
import path from 'node:path';
import { build } from 'rolldown';

/** Bundles test/session/child-program.ts into the directory. @returns its path */
export async function bundleChild(directory: string): Promise<string> {
  const file = path.join(directory, 'child.cjs');
  await build({
    input: path.join(import.meta.dirname, 'child-program.ts'),
    platform: 'node',
    logLevel: 'silent',
    output: { file, format: 'cjs', codeSplitting: false },
  });
  return file;
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** Runs a shell command to its end; `heard` gets what was printed so far, and how to signal it. */
export function runShell(
  command: string,
  heard: (output: string, kill: (signal: NodeJS.Signals) => void) => void = () => {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      heard(output, (signal) => child.kill(signal));
    });
    child.once('error', reject);
    child.once('close', (status, signal) => resolve({ status, signal, output }));
  });
}
