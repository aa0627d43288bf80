// imgctl demo: the whole job by one command, for somebody who has nothing but the program.

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freshHome, runBuilt, startCli } from '../support/cli.ts';

describe('imgctl demo', () => {
  it('ends with my-images showing the OVA that was just synced, and leaves nothing behind', async () => {
    const env = { ...freshHome(), TMPDIR: freshHome().HOME, IMGCTL_OUTPUT: 'json' };
    const { stdout, exitCode } = await runBuilt(['demo'], { env });
    expect(exitCode).toBe(0);
    const last = stdout.slice(stdout.lastIndexOf('$ imgctl my-images'));
    expect(last).toMatch(/^\d+ +sample\.ova /m);
    expect(readdirSync(env.HOME)).toEqual([]);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('can be interrupted', async () => {
    const env = { ...freshHome(), TMPDIR: freshHome().HOME };
    const demo = startCli(['demo'], { env });
    await demo.waitFor('stderr', 'PENDING');
    demo.child.kill('SIGINT');
    expect(await demo.ended).toMatchObject({ exitCode: 130 });
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });
});
