// What each kind of notice writes to stderr: on a terminal, in a pipe, as JSON and with -q.

import { expect, it } from 'vitest';
import { Console } from '../src/console.ts';
import type { Terminal } from '../src/output/terminal.ts';
import { fakeIo } from './support/io.ts';
import { PIPE, terminalOf } from './support/memory-sink.ts';

/** One notice of each kind, or several if one depends on those before it. */
function sayAll(console: Console): void {
  for (const message of ['late', 'late', 'gone']) console.warn(message, 'look');
  for (const message of ['a.ova: skipped', 'a.ova: skipped']) console.warnOfPart(message);
  console.failure('1 failed', 'fix it');
  const details = ['SHA-256 0123456789abcdef0123456789abcdef'];
  console.failureOfPart({ message: 'a.ova failed', hint: 'fix it', code: 'conflict', details });
  console.failureOfPart({ message: 'b.ova failed', hint: 'fix it' });
  console.failureOfPart({ message: 'c.ova failed', hint: 'buy it' });
  console.failureOfPart({ message: 'd.ova failed' });
  console.report('first run', `at the end: ${console.hintForEnd}`);
  console.note('nothing is set', 'set it');
  console.success('Saved it', { hint: 'use it', details: ['in a.json'] });
  console.success('Saved all', { withoutMark: null });
  console.success('Saved most', { withoutMark: 'a.ova: saved', hasWarnings: true });
  console.footer('');
  console.footer('3 images');
  console.debug('GET /v2');
}

it.each<[string, Terminal, { json?: boolean; quiet?: boolean }, string]>([
  [
    'on a terminal',
    terminalOf(60),
    {},
    `imgctl: warning: late
hint: look
imgctl: warning: gone
hint: look
! a.ova: skipped
imgctl: error: 1 failed
hint: fix it
✗ a.ova failed
  SHA-256 01234567...89abcdef
✗ b.ova failed
✗ c.ova failed
hint: buy it
✗ d.ova failed
imgctl: first run
hint: at the end: fix it
imgctl: nothing is set
hint: set it
✓ Saved it
  in a.json
hint: use it
✓ Saved all
! Saved most
3 images
imgctl: debug: GET /v2
`,
  ],
  [
    'on a terminal without Unicode, with -q',
    terminalOf(60, false),
    { quiet: true },
    `imgctl: warning: late
hint: look
imgctl: warning: gone
hint: look
! a.ova: skipped
imgctl: error: 1 failed
hint: fix it
failed: a.ova failed
  SHA-256 01234567...89abcdef
failed: b.ova failed
failed: c.ova failed
hint: buy it
failed: d.ova failed
`,
  ],
  [
    'in a pipe',
    PIPE,
    {},
    `imgctl: warning: late
hint: look
imgctl: warning: gone
hint: look
imgctl: warning: a.ova: skipped
imgctl: error: 1 failed
hint: fix it
imgctl: error: a.ova failed
  SHA-256 0123456789abcdef0123456789abcdef
hint: fix it
imgctl: error: b.ova failed
imgctl: error: c.ova failed
hint: buy it
imgctl: error: d.ova failed
imgctl: first run
hint: at the end: undefined
imgctl: saved it
hint: use it
imgctl: a.ova: saved
3 images
imgctl: debug: GET /v2
`,
  ],
  [
    'as JSON on a terminal',
    terminalOf(60),
    { json: true },
    `{"warning":{"message":"late","hint":"look"}}
{"warning":{"message":"gone","hint":"look"}}
{"warning":{"message":"a.ova: skipped"}}
{"warning":{"message":"1 failed","hint":"fix it"}}
{"warning":{"code":"conflict","message":"a.ova failed","details":["SHA-256 0123456789abcdef0123456789abcdef"],"hint":"fix it"}}
{"warning":{"message":"b.ova failed","hint":"fix it"}}
{"warning":{"message":"c.ova failed","hint":"buy it"}}
{"warning":{"message":"d.ova failed"}}
{"note":{"message":"first run","hint":"at the end: undefined"}}
{"note":{"message":"nothing is set","hint":"set it"}}
{"note":{"message":"saved it","hint":"use it"}}
{"note":{"message":"a.ova: saved"}}
3 images
{"debug":{"message":"GET /v2"}}
`,
  ],
])('notices %s', async (_way, errorTerminal, { json = false, quiet = false }, expected) => {
  const io = fakeIo({ errorColumns: errorTerminal.width });
  const received: string[] = [];
  const console = new Console(io, {
    ...{ quiet, writesJson: json, debug: !quiet, errorTerminal, hintOf: String },
    receive: ({ kind, content }) => received.push(`${kind}: ${content.message}`),
  });
  sayAll(console);
  await console.flush();
  expect(io.stderr.text).toBe(expected);
  // The program that uses the package reads them as values, but no debug lines.
  expect(received.slice(0, 3)).toEqual([
    'warning: late',
    'warning: gone',
    'warning: a.ova: skipped',
  ]);
  expect(received.join()).not.toContain('debug');
});
