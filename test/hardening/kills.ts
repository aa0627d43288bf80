// Kills runs of the program after a random time, or with a random change of a folder.

import { utimesSync, watch } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { filesBelow } from '../support/files.ts';
import type { CliResult } from '../support/io.ts';
import { type ProgramOptions, startProgram } from '../support/program.ts';

export const KILLS = Number(process.env.HARDENING_KILLS || 10);
/** Users with a home each, who wait for stale locks at the same time. */
export const HOMES = 5;
/** Of the folder in one run. */
const MAX_CHANGES = 12;

interface Runs extends ProgramOptions {
  readonly argv: readonly string[];
  readonly folder: string;
  readonly before?: () => void;
  readonly check: (result: CliResult) => Promise<unknown>;
}

/** Makes the staging files of killed runs below a folder old enough for the next write to remove them. */
export function ageLeftovers(folder: string): void {
  const time = Date.now() / 1_000 - 120;
  for (const file of filesBelow(folder)) if (/\.new(\.|$)/.test(file)) utimesSync(file, time, time);
}

/** Runs a command until so many runs were killed, but not the first, and checks each. */
export async function killRuns(kills: number, { argv, folder, before, check, ...options }: Runs) {
  let life = 0;
  for (let hits = 0; hits < kills; ) {
    before?.();
    const started = performance.now();
    const { child, ended } = startProgram(argv, options);
    const kill = () => child.kill('SIGKILL');
    const isTimed = Math.random() < 0.5;
    let left = isTimed || life === 0 ? 0 : 1 + Math.floor(MAX_CHANGES * Math.random());
    const watcher = watch(folder, () => {
      left -= 1;
      if (left === 0) kill();
    });
    if (isTimed && life > 0) await Promise.race([wait(life * Math.random()), ended]).then(kill);
    const result = await ended;
    watcher.close();
    life ||= performance.now() - started;
    if (child.signalCode === 'SIGKILL') hits += 1;
    await check(result);
  }
}
