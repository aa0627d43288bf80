// Each way to fail, against the built program: the exit code, one clear line and a hint, never a stack trace.

import { cpSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { DEMO, FAILURES } from './failures.ts';

describe.each(FAILURES)('$title', ({ exitCode, code, message, hint, prepare }) => {
  it(`exits ${exitCode} with one clear line, also as JSON`, async () => {
    const { argv, env } = await prepare(DEMO);
    // What one run remembers would change what the other one says.
    const home = temporaryDirectory();
    cpSync(env.HOME ?? '', home, { recursive: true });
    const [text, json] = await Promise.all([
      runBuilt(argv, { env }),
      runBuilt([...argv, '--json'], { env: { ...env, HOME: home } }),
    ]);
    expect(text).toMatchObject({ stdout: '', exitCode });
    const [first = '', second = '', ...rest] = text.stderr.split('\n');
    expect(first.replace(/^imgctl: /, '')).toMatch(message);
    expect(second.replace(/^hint: /, '')).toMatch(hint);
    expect(rest).toEqual(['']);

    expect(json).toMatchObject({ stdout: '', exitCode });
    expect(json.stderr.split('\n')).toHaveLength(2);
    const { error } = JSON.parse(json.stderr);
    expect(error).toMatchObject({
      code,
      exitCode,
      message: expect.stringMatching(message),
      hint: expect.stringMatching(hint),
    });
  });
});

it('what is done exits 0', async () => {
  const env = account((await serve()).baseUrl);
  expect(await runBuilt(['images', 'list', 'no-such-image', '--json'], { env })).toEqual({
    stdout: '[]\n',
    stderr: '',
    exitCode: 0,
  });
});
