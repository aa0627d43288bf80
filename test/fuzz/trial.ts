// Runs one command against a hostile service, and reduces a failure to its mutations.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fakeIo, runCli } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { type Case, pickCase } from './cases.ts';
import { HostileService } from './hostile-service.ts';
import { recordOriginals, START } from './originals.ts';
import { Random } from './random.ts';
import { faultsOf } from './verdict.ts';

const MAX_SLEEP = 60_000;
/** Only a defect takes so long, since no response stalls and waits take no time. */
const TIME_LIMIT = 120_000;

interface Trial {
  readonly faults: readonly string[];
  readonly exitCode: number;
  readonly mutatedResponses: number;
  readonly mutations: readonly string[];
  readonly report: string;
}

/** Runs the trial of a seed without the skipped mutations. */
type RunTrial = (seed: string, skipped?: ReadonlySet<string>) => Promise<Trial>;

export async function createTrials(): Promise<RunTrial> {
  const originals = await recordOriginals();
  let service: HostileService | undefined;
  const failures: unknown[] = [];
  const server = await scriptedServer(async ({ method, target }) => {
    const raw = await service?.respond(method, target).catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
    return { raw: raw ?? ((socket) => socket.destroy()) };
  });
  const foreign = await scriptedServer({});

  return async (seed, skipped = new Set()) => {
    const chosen = pickCase(new Random(seed));
    const folder = mkdtempSync(path.join(tmpdir(), 'imgctl-fuzz-'));
    const io = fakeIo({ time: START, ...worldOf(chosen, server.baseUrl, folder) });
    const faults = new Set<string>();
    const endBecause = (fault: string) => {
      faults.add(fault);
      io.interrupt();
    };
    const hostile = new HostileService({
      seed,
      skipped,
      originals,
      origins: { own: server.baseUrl, foreign: foreign.baseUrl },
      giveUp: () => endBecause('sends requests without end'),
    });
    service = hostile;
    const foreignBefore = foreign.requests.length;
    const timer = setTimeout(() => endBecause('does not end'), TIME_LIMIT);
    const result = await runCli(chosen.argv, io);
    clearTimeout(timer);
    if (holdsLock(folder)) faults.add('continues after its end');
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    if (failures.length > 0) throw failures[0];
    for (const fault of faultsOf(chosen, result)) faults.add(fault);
    if (foreign.requests.length > foreignBefore) faults.add('sends a request to another origin');
    if (io.sleeps.some((sleep) => !(sleep <= MAX_SLEEP))) faults.add('waits too long');
    return {
      faults: [...faults],
      exitCode: result.exitCode,
      mutatedResponses: hostile.transcript.length,
      mutations: hostile.mutations,
      report: [
        `FUZZ_CASE='${seed}' imgctl ${chosen.argv.join(' ')}`,
        JSON.stringify({ ...chosen.env, hasFolder: chosen.hasFolder, columns: chosen.columns }),
        ...hostile.transcript,
        `exit ${result.exitCode}, stderr: ${JSON.stringify(result.stderr.slice(0, 3_000))}`,
        `stdout: ${JSON.stringify(result.stdout.slice(0, 1_000))}`,
      ].join('\n'),
    };
  };
}

/** True if a lock is left, which means that some work continues. */
function holdsLock(folder: string): boolean {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).some((file) =>
    file.endsWith('.lock'),
  );
}

function worldOf({ env, hasFolder, columns }: Case, baseUrl: string, folder: string) {
  return {
    env: {
      IMGCTL_BASE_URL: baseUrl,
      NO_COLOR: '1',
      ...env,
      ...(hasFolder ? { IMGCTL_CONFIG_DIR: folder } : {}),
    },
    ...(columns === undefined ? {} : { columns }),
  };
}

/** Returns the trial of a seed with only the mutations that cause the fault. */
export async function smallest<Result extends Pick<Trial, 'faults' | 'mutations'>>(
  run: (seed: string, skipped?: ReadonlySet<string>) => Promise<Result>,
  seed: string,
  fault: string,
): Promise<Result> {
  const skipped = new Set<string>();
  let best = await run(seed);
  for (const mutation of best.mutations) {
    skipped.add(mutation);
    const trial = await run(seed, skipped);
    if (trial.faults.includes(fault)) best = trial;
    else skipped.delete(mutation);
  }
  return best;
}
