// Runs programs in turn and returns the medians of their time and memory; makes packages to push and validate.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const TELL_USAGE = fileURLToPath(new URL('tell-usage.cjs', import.meta.url));

/** Returns the command of a Node program that reports its own CPU time and peak memory. */
export function nodeProgram(script, ...args) {
  return [process.execPath, '--require', TELL_USAGE, script, ...args];
}

/**
 * Returns medians by name: wall (seconds), and for Node programs cpu (seconds) and peak (MiB).
 * A contestant is { command: [program, argument...], env, prepare, images, mark }: prepare is called before each run,
 * and the program must print the mark once per image if `images` is given.
 */
export async function compare(contestants, runs) {
  const results = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  // The first run is a warm-up.
  for (let run = 0; run <= runs; run += 1) {
    for (const [name, contestant] of Object.entries(contestants)) {
      contestant.prepare?.();
      const usage = await measure(contestant);
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

/** Writes bench.ovf, bench.mf with SHA-256 digests and bench.iso with random bytes to a folder. */
export function makePackage(folder, mebibytes) {
  const hash = createHash('sha256');
  const disk = openSync(join(folder, 'bench.iso'), 'w');
  for (let written = 0; written < mebibytes; written += 16) {
    const block = randomBytes(16 * 2 ** 20);
    writeSync(disk, block);
    hash.update(block);
  }
  closeSync(disk);
  const namespace = 'http://schemas.dmtf.org/ovf/envelope/1';
  const descriptor = `<Envelope xmlns="${namespace}" xmlns:ovf="${namespace}"><References><File ovf:id="f" ovf:href="bench.iso" ovf:size="${mebibytes * 2 ** 20}"/></References><VirtualSystem ovf:id="vm"><Info/></VirtualSystem></Envelope>`;
  const digest = createHash('sha256').update(descriptor).digest('hex');
  writeFileSync(join(folder, 'bench.ovf'), descriptor);
  writeFileSync(
    join(folder, 'bench.mf'),
    `SHA256(bench.ovf)= ${digest}\nSHA256(bench.iso)= ${hash.digest('hex')}\n`,
  );
}
