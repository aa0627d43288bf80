// Failures: exit code, one line and a hint, as text and as JSON.

import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { FAILURES } from './failures.ts';

it.each(FAILURES)(
  'with %s imgctl exits %i with one line and a hint, as text and as JSON',
  async (...row) => {
    const [, exitCode, expected, prepare] = row;
    const { argv, env } = await prepare({ name: 'demo', password: 'demo' });
    // One run must not see what the other one has stored.
    const home = temporaryDirectory();
    cpSync(env.HOME ?? '', home, { recursive: true });
    const [text, json] = await Promise.all([
      runCli(argv, { env }),
      runCli([...argv, '--json'], { env: { ...env, HOME: home } }),
    ]);
    for (const result of [text, json]) expect(result).toMatchObject({ stdout: '', exitCode });
    const { error } = JSON.parse(json.stderr);
    expect(error.exitCode).toBe(exitCode);
    expect(`${error.code}: ${error.message}\n${error.hint}`).toMatch(expected);
    expect(json.stderr.split('\n')).toHaveLength(2);
    const [, message, hint] = /^imgctl: (.*)\nhint: (.*)\n$/.exec(text.stderr) ?? [];
    expect(`${error.code}: ${message}\n${hint}`).toMatch(expected);
  },
);
