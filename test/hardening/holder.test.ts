// Twenty processes need a new token, and the one that requests it is killed or stopped.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { serve } from '../support/emulator.ts';
import { runProgram, startProgram, withClockAhead } from '../support/program.ts';
import { account } from '../support/users.ts';

const PROCESSES = 10;
const LIST = ['images', 'list', '--limit', '1', '-q'];

it.each([
  ['killed', 'equal clocks', 0],
  ['killed', 'every second clock 10 s ahead', 10_000],
  ['stopped', 'equal clocks', 0],
  ['stopped', 'every second clock 10 s behind', -10_000],
])(
  'ten processes with a lock holder that is %s send one token request, with %s',
  async (...row) => {
    const [what, , skew] = row;
    const isKilled = what === 'killed';
    let requests = 0;
    let arrived = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const emulator = await serve({
      // Only the second token request, that of the lock holder, gets no response.
      faults: isKilled ? ['POST /auth/request-token=stall,every=2'] : [],
      latency: isKilled ? 0 : 500,
      onRequest: ({ method }) => {
        if (method !== 'POST') return;
        requests += 1;
        if (requests === 2) arrived();
      },
    });
    const { IMGCTL_PASSWORD, ...user } = account(emulator.baseUrl);
    // Only the lock holder runs the password command, which records its parent.
    const holders = path.join(user.HOME, 'holders');
    const command = `echo $PPID >>${holders}; echo ${IMGCTL_PASSWORD}`;
    const env = { ...user, IMGCTL_PASSWORD_COMMAND: command };
    expect((await runProgram(['login'], { env })).exitCode).toBe(0);
    const [loggedIn] = readFileSync(holders, 'utf8').split('\n');
    emulator.expireTokens();

    const other = withClockAhead(env, skew);
    const processes = Array.from({ length: PROCESSES }, (_, index) =>
      startProgram(LIST, { env: index % 2 ? other : env }),
    );
    await arrival;
    const holderId = readFileSync(holders, 'utf8').trim().split('\n').at(-1);
    expect(holderId).not.toBe(loggedIn);
    const holder = processes.find(({ child }) => String(child.pid) === holderId);
    expect(holder?.child.kill(isKilled ? 'SIGKILL' : 'SIGSTOP')).toBe(true);

    const others = processes.filter((one) => one !== holder);
    const results = await Promise.all(others.map(({ ended }) => ended));
    const done = { stdout: expect.stringMatching(/^\d+\n$/), stderr: '', exitCode: 0 };
    expect(results).toEqual(Array.from({ length: PROCESSES - 1 }, () => done));
    holder?.child.kill('SIGCONT');
    expect(await holder?.ended).toEqual(
      isKilled ? expect.objectContaining({ exitCode: 137 }) : done,
    );
    expect(requests).toBe(3);
  },
);
