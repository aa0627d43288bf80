// demo of the built program.

import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { freshHome, runBuilt, startCli } from '../support/cli.ts';

describe('demo', () => {
  it('ends with the image of the uploaded package and leaves no files', async () => {
    const env = {
      ...freshHome(),
      TMPDIR: freshHome().HOME,
      IMGCTL_OUTPUT: 'json',
      // Node would store compiled code, as for every command.
      NODE_DISABLE_COMPILE_CACHE: '1',
    };
    const { stdout, exitCode } = await runBuilt(['demo'], { env });
    expect(exitCode).toBe(0);
    const last = stdout.slice(stdout.lastIndexOf('$ imgctl push'));
    expect(last).toMatch(/^\d+ +sample\.ova /m);
    expect(readdirSync(env.HOME)).toEqual([]);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });

  it('exits 130 and leaves no files when interrupted', async () => {
    const env = { ...freshHome(), TMPDIR: freshHome().HOME };
    const demo = startCli(['demo'], { env });
    await demo.waitFor('stderr', 'PENDING');
    demo.child.kill('SIGINT');
    const { stderr, exitCode } = await demo.ended;
    expect(exitCode).toBe(130);
    expect(stderr).toMatch(/\nimgctl: demo interrupted; nothing was left behind\n$/);
    expect(readdirSync(env.TMPDIR)).toEqual([]);
  });
});
