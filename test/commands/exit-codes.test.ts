// Failures: exit code, one line and a hint, as text and as JSON.

import { cpSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEMO, FAILURES } from '../e2e/failures.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';

describe.each(FAILURES)('with $title', ({ expected, prepare }) => {
  const [exitCode, code, message, hint] = expected;

  it(`imgctl exits ${exitCode} with one line and a hint, as text and as JSON`, async () => {
    const { argv, env } = await prepare(DEMO);
    // One run must not see what the other one has stored.
    const home = temporaryDirectory();
    cpSync(env.HOME ?? '', home, { recursive: true });
    const [text, json] = await Promise.all([
      runCli(argv, { env }),
      runCli([...argv, '--json'], { env: { ...env, HOME: home } }),
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
