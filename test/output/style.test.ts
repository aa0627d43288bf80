// Colours of messages.

import { describe, expect, it } from 'vitest';
import { ImgctlError } from '../../src/errors.ts';
import { formatError, formatNotice, formatSuccess } from '../../src/output/messages.ts';
import { loadStyle, PLAIN, stateStyle } from '../../src/output/terminal.ts';
import { type FakeIoOptions, fakeTerminal } from '../support/io.ts';
import { rows } from '../support/rows.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const colored = () => loadStyle({ color: true });

describe('loadStyle', () => {
  it('uses the 16 colours that every terminal has, whatever chalk detects', async () => {
    const { bad, faint, good, heading, hint, id, waiting } = await colored();
    const painted = [heading, id, faint, hint, good, waiting, bad].map((paint) => paint('x'));
    expect(painted.map((text) => text.replace('\u001b', '').split('x')[0])).toEqual([
      ...['[1m', '[36m', '[2m', '[36m', '[32m', '[33m', '[31m'],
    ]);
  });

  it('changes nothing without colour', async () => {
    expect(await loadStyle({ color: false })).toBe(PLAIN);
    expect(Object.values(PLAIN).map((paint) => paint('x'))).toEqual(Array(7).fill('x'));
  });
});

it.each([
  ...rows('good', 'ok', 'valid', 'succeeded', 'SUCCESS'),
  ...rows('waiting', 'waiting', 'PENDING', 'IN_PROGRESS', 'warning'),
  ...rows('bad', 'failed', 'ERROR', 'expired'),
  ...rows('faint', '-', 'none', 'not checked'),
] as const)('stateStyle of %j is %s', async (word, kind) => {
  const style = await colored();
  expect(stateStyle(word, style)).toBe(style[kind]);
  expect(stateStyle(`${word}.ova`, style)).toBe(String);
});

describe('messages in colour', () => {
  const format = async () => ({ json: false, debug: false, style: await colored() });

  it('have a red name for an error and a cyan hint', async () => {
    const error = new ImgctlError('not-found', 'no image', { hint: 'look' });
    expect(formatError(error, await format())).toBe(
      '\u001b[31mimgctl:\u001b[39m no image\n\u001b[36mhint:\u001b[39m look\n',
    );
  });

  it('have a yellow word for a warning, and none for a note', async () => {
    const warning = formatNotice('warning', 'w', undefined, await format());
    expect(warning).toBe('imgctl: \u001b[33mwarning:\u001b[39m w\n');
    expect(formatNotice('note', 'n', undefined, await format())).toBe('imgctl: n\n');
  });

  it('are plain in JSON', async () => {
    const json = { ...(await format()), json: true };
    expect(formatError(new ImgctlError('failed', 'x'), json)).toMatch(/^\{"error".*\}\n$/);
    expect(formatNotice('warning', 'w', 'h', json)).not.toContain('\u001b');
  });

  it('mark a success with ✓, or ok: in an ASCII locale', async () => {
    expect(formatSuccess('Done', await format(), true)).toBe('\u001b[32m✓\u001b[39m Done\n');
    expect(formatSuccess('a\u001bb', { json: false, debug: false }, false)).toBe('ok: a\\u001bb\n');
  });
});

describe('a success', () => {
  it.each<[string, FakeIoOptions, string]>([
    ['a terminal', { errorColumns: 80, color: true }, '\u001b[32m✓\u001b[39m Logged'],
    ['an ASCII terminal', { errorColumns: 80, env: { LANG: 'C' } }, 'ok: Logged'],
    ['a pipe', { color: true }, 'imgctl: logged'],
  ])('is reported on %s', async (_where, { env, ...io }: FakeIoOptions, start) => {
    const { emulator, imgctl } = await emulatorUser();
    const time = Date.now();
    const login = await imgctl('login', { ...io, time, env: { ...PASSWORD, ...env } });
    expect(login.stderr).toBe(
      `${start} in to ${emulator.baseUrl} as demo (token valid for 24 h)\n`,
    );
    expect((await imgctl('logout', { ...io, env: env ?? {} })).stderr).toBe(`${start} out\n`);
  });

  it('is not reported with -q, and as a note in JSON', async () => {
    const { imgctl } = await emulatorUser();
    const stdin = fakeTerminal();
    expect((await imgctl('login -q', { stdin, env: PASSWORD })).stderr).toBe('');
    const { stderr } = await imgctl('login --json', { stdin, env: PASSWORD });
    expect(JSON.parse(stderr).note.message).toMatch(/^logged in to/);
  });
});
