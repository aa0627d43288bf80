// demo of the built program.

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freshHome, runBuilt, startCli } from '../support/cli.ts';

describe('demo', () => {
  it('ends with push showing the image of the OVA and leaves no files', async () => {
    const env = { ...freshHome(), TMPDIR: freshHome().HOME, IMGCTL_OUTPUT: 'json' };
    const { stdout, exitCode } = await runBuilt(['demo'], { env });
    expect(exitCode).toBe(0);
    const last = stdout.slice(stdout.lastIndexOf('$ imgctl push sample.ova'));
    expect(last).toMatch(/^\d+ +sample\.ova /m);
    expect(readdirSync(env.HOME)).toEqual([]);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('exits 130 and leaves no files when interrupted', async () => {
    const env = { ...freshHome(), TMPDIR: freshHome().HOME };
    const demo = startCli(['demo'], { env });
    await demo.waitFor('stderr', 'PENDING');
    demo.child.kill('SIGINT');
    expect(await demo.ended).toMatchObject({ exitCode: 130 });
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });
});
