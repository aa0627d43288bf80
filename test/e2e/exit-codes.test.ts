// Each way to fail, against the built program: the exit code, one clear line and a hint, never a stack trace.

import { describe, expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { DEMO, FAILURES, serve } from './failures.ts';

describe.each(FAILURES)('$title', ({ exitCode, code, message, hint, prepare }) => {
  it(`exits ${exitCode} with one clear line`, async () => {
    const { argv, env } = await prepare(DEMO);
    const result = await runBuilt(argv, { env });
    expect(result).toMatchObject({ stdout: '', exitCode });
    const [first = '', second = '', ...rest] = result.stderr.split('\n');
    expect(first.replace(/^imgctl: /, '')).toMatch(message);
    expect(second.replace(/^hint: /, '')).toMatch(hint);
    expect(rest).toEqual(['']);
  });

  it('says the same as one line of JSON', async () => {
    const { argv, env } = await prepare(DEMO);
    const result = await runBuilt([...argv, '--json'], { env });
    expect(result).toMatchObject({ stdout: '', exitCode });
    expect(result.stderr.split('\n')).toHaveLength(2);
    const { error } = JSON.parse(result.stderr);
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
