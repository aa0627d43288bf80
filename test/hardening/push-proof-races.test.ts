// push to real storages, raced by another home after one of them has proved what is there.

import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { skipped } from '../support/requirements.ts';
import { writeOva } from '../support/uploads.ts';
import { digestOf, RACE_SIZE, RACED_SERVERS, RACES, setUp, TOLD } from './upload-servers.ts';

describe.each(RACED_SERVERS)('push to $name', { timeout: 1_200_000 }, (kind) => {
  const withServer = it.skipIf(kind.reason !== '');
  const why = skipped(kind.reason);

  const raced = withServer.each(['fail', 'replace']);
  raced(`raced with proofs and --on-conflict %s stores what ended 0${why}`, async (onConflict) => {
    const { user, server } = await setUp(kind.start);
    const name = 'race.ova';
    const homes = ['a', 'b'].map((seed) => {
      const file = writeOva(temporaryDirectory(), 'race', RACE_SIZE, seed);
      return { env: user(), file, digest: digestOf(readFileSync(file)) };
    });
    const push = async ({ env, file, digest }: (typeof homes)[number], option: string) => {
      const argv = ['push', file, '--no-sync', '--on-conflict', option];
      return { ...(await runProgram(argv, { env })), digest };
    };
    for (let round = 0; round < RACES; round += 1) {
      // Younger files are not remembered. Others than WebDAV remember uploads at once.
      if (round === 0 || server.settings['upload-url']?.startsWith('dav')) await wait(2_100);
      // Who has its content there proves it. In half the rounds, with fail, nothing is there.
      const proofs = await Promise.all(homes.map((home) => push(home, 'fail')));
      expect(proofs.some(({ exitCode }) => exitCode === 0)).toBe(true);
      if (onConflict === 'fail' && Math.random() < 0.5) await server.remove(name);
      const results = await Promise.all(homes.map((home) => push(home, onConflict)));
      for (const { exitCode, stderr } of results)
        if (exitCode !== 0)
          expect({ exitCode, stderr }).toEqual({
            exitCode: 1,
            stderr: expect.stringMatching(TOLD),
          });
      const winners = results.filter(({ exitCode }) => exitCode === 0);
      const stored = digestOf(await server.read(name));
      expect(winners.map(({ digest }) => digest)).toContain(stored);
      if (onConflict === 'fail') expect(winners).toHaveLength(1);
    }
  });
});
