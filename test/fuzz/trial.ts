// One run of a command against a hostile service, and the smallest hostility that makes it fail alike.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fakeIo, runCli } from '../support/io.ts';
import { startScriptedServer } from '../support/scripted-server.ts';
import { type Case, pickCase } from './cases.ts';
import { Hostility } from './hostility.ts';
import { recordOriginals, START } from './originals.ts';
import { Random } from './random.ts';
import { faultsOf } from './verdict.ts';

/** The longest wait that an answer may ask for, in milliseconds. */
const LONGEST_SLEEP = 60_000;
/** Only a defect takes so long: no answer stalls, and no wait takes any time. */
const PATIENCE = 120_000;

export interface Trial {
  /** What went wrong, each in a few words. */
  readonly faults: readonly string[];
  readonly exitCode: number;
  /** Answers that were not as they should be. */
  readonly mutatedAnswers: number;
  /** By name; see HostilityOptions. */
  readonly mutations: readonly string[];
  /** All that there is to know, for people. */
  readonly report: string;
}

export interface Laboratory {
  /** The trial of a seed, without the mutations that are skipped. */
  run(seed: string, skipped?: ReadonlySet<string>): Promise<Trial>;
  close(): Promise<void>;
}

export async function openLaboratory(): Promise<Laboratory> {
  const originals = await recordOriginals();
  let hostility: Hostility | undefined;
  const failures: unknown[] = [];
  const server = await startScriptedServer(async ({ method, target }) => {
    const raw = await hostility?.answer(method, target).catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
    return { raw: raw ?? ((socket) => socket.destroy()) };
  });
  const foreign = await startScriptedServer({});

  const run: Laboratory['run'] = async (seed, skipped = new Set()) => {
    const chosen = pickCase(new Random(seed));
    const folder = mkdtempSync(path.join(tmpdir(), 'imgctl-fuzz-'));
    const io = fakeIo({ time: START, ...worldOf(chosen, server.baseUrl, folder) });
    const faults = new Set<string>();
    const endBecause = (fault: string) => {
      faults.add(fault);
      io.interrupt();
    };
    const service = new Hostility({
      seed,
      skipped,
      originals,
      origins: { own: server.baseUrl, foreign: foreign.baseUrl },
      giveUp: () => endBecause('asks without end'),
    });
    hostility = service;
    const foreignBefore = foreign.requests.length;
    const patience = setTimeout(() => endBecause('does not end'), PATIENCE);
    const result = await runCli(chosen.argv, io);
    clearTimeout(patience);
    if (holdsLock(folder)) faults.add('goes on after its end');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    if (failures.length > 0) throw failures[0];
    for (const fault of faultsOf(chosen, result)) faults.add(fault);
    if (foreign.requests.length > foreignBefore) faults.add('asks another origin');
    if (io.sleeps.some((sleep) => !(sleep <= LONGEST_SLEEP))) faults.add('waits too long');
    return {
      faults: [...faults],
      exitCode: result.exitCode,
      mutatedAnswers: service.transcript.length,
      mutations: service.mutations,
      report: [
        `FUZZ_CASE='${seed}' imgctl ${chosen.argv.join(' ')}`,
        JSON.stringify({ ...chosen.env, keeps: chosen.keeps, columns: chosen.columns }),
        ...service.transcript,
        `exit ${result.exitCode}, stderr: ${JSON.stringify(result.stderr.slice(0, 3_000))}`,
        `stdout: ${JSON.stringify(result.stdout.slice(0, 1_000))}`,
      ].join('\n'),
    };
  };
  return {
    run,
    async close() {
      await Promise.all([server.close(), foreign.close(), originals.close()]);
    },
  };
}

/** A lock is given back before a command ends, or something is still under way. */
function holdsLock(folder: string): boolean {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((file) =>
    file.endsWith('.lock'),
  );
}

function worldOf({ env, keeps, columns }: Case, baseUrl: string, folder: string) {
  return {
    env: {
      IMGCTL_BASE_URL: baseUrl,
      NO_COLOR: '1',
      ...env,
      ...(keeps ? { IMGCTL_CONFIG_DIR: folder } : {}),
    },
    ...(columns === undefined ? {} : { columns }),
  };
}

/** The trial of that seed with every mutation left out that the fault does not need. */
export async function smallest(
  laboratory: Laboratory,
  seed: string,
  fault: string,
): Promise<Trial> {
  const skipped = new Set<string>();
  let best = await laboratory.run(seed);
  for (const mutation of best.mutations) {
    skipped.add(mutation);
    const trial = await laboratory.run(seed, skipped);
    if (trial.faults.includes(fault)) best = trial;
    else skipped.delete(mutation);
  }
  return best;
}
