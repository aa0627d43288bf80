// Runs programs in turn, and returns the medians of their time and memory.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const TELL_USAGE = fileURLToPath(new URL('tell-usage.cjs', import.meta.url));

/** Returns the command of a Node program that reports its own CPU time and peak memory. */
export function nodeProgram(script, ...args) {
  return [process.execPath, '--require', TELL_USAGE, script, ...args];
}

/**
 * Returns medians by name: wall (seconds), and for Node programs cpu (seconds) and peak (MiB).
 * A contestant is { command: [program, argument...], env, images, mark }, and must print the mark once per image if
 * `images` is given.
 */
export async function compare(contestants, runs) {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let run = 0; run <= runs; run += 1) {
    for (const [name, contestant] of Object.entries(contestants)) {
      const usage = await measure(contestant);
      // The first run is a warm-up.
      if (run > 0) results[name].push(usage);
    }
  }
  return Object.fromEntries(
    Object.entries(results).map(([name, usages]) => [
      name,
      Object.fromEntries(
        ['wall', 'cpu', 'peak'].map((key) => [key, median(usages.map((usage) => usage[key]))]),
      ),
    ]),
  );
}

async function measure({ command: [program, ...args], env, images, mark = '"name":' }) {
  const start = process.hrtime.bigint();
  const child = spawn(program, args, { env: { ...process.env, ...env } });
  const output = [];
  let stderr = '';
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.setEncoding('utf8').on('data', (text) => {
    stderr += text;
  });
  const [status] = await once(child, 'close');
  const wall = Number(process.hrtime.bigint() - start) / 1e9;
  const found = Buffer.concat(output).toString().split(mark).length - 1;
  if (status !== 0 || found !== (images ?? found)) {
    throw new Error(
      `${program} ended with ${status} after ${found} of ${images} images: ${stderr}`,
    );
  }
  const usage = stderr.trim().split('\n').at(-1);
  return { wall, ...(usage?.startsWith('{"cpu"') ? JSON.parse(usage) : {}) };
}

export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
