// The time zone that TZ names, beside that of date(1).

import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { testImages } from '../support/catalogue-page.ts';
import { temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { skipped } from '../support/requirements.ts';
import { account, freshHome } from '../support/users.ts';

const ZONES = '/usr/share/zoneinfo';
const TIMES = ['2024-01-15T22:13:00Z', '2024-07-15T22:13:00Z'];
const HEAD = { version: 1, taken_at: TIMES[1], base_url: 'https://a.example/v2', username: null };
const reason = existsSync(`${ZONES}/Asia/Kolkata`) ? '' : 'tzdata is not installed';

/** Returns the lines of a list of both times, and what is written on stderr. */
async function list(TZ: string | undefined, ...options: string[]) {
  const file = path.join(temporaryDirectory(), 'all.json');
  const images = testImages(2).map((image, index) => ({ ...image, updated_on: TIMES[index] }));
  writeFileSync(file, JSON.stringify({ ...HEAD, images }));
  const env = TZ === undefined ? freshHome() : { ...freshHome(), TZ };
  const words = ['images', 'list', '--from', file, '-c', 'updated_on', '-o', 'csv'];
  const { stdout, stderr } = await runProgram([...words, ...options], { env });
  return { lines: stdout.trim().split('\r\n').slice(1), stderr };
}

describe.skipIf(reason)(`a TZ that date knows${skipped(reason)}`, () => {
  it.each([
    ...['', ':', ':Europe/Berlin', 'posix/Asia/Tokyo', 'EST5EDT', 'UTC0', 'JST-9', '<+03>-3'],
    ...[':/etc/localtime', `${ZONES}/Europe/Berlin`, ':FOLDER/link'],
  ])('is the zone of local times: %s', async (form) => {
    const folder = temporaryDirectory();
    symlinkSync(`${ZONES}/America/New_York`, path.join(folder, 'link'));
    const TZ = form.replace('FOLDER', folder);
    const known = TIMES.map((time) => {
      const options = { env: { ...process.env, TZ }, encoding: 'utf8' } as const;
      return execFileSync('date', ['-d', time, '+%F %H:%M'], options).trim();
    });
    expect(await list(TZ, '--time', 'local')).toEqual({ lines: known, stderr: '' });
  });
});

describe.each([
  'IST-5:30',
  'CET-1CEST,M3.5.0,M10.5.0/3',
  'Europe/Nowhere',
  '/etc/passwd',
  '+05:30',
])('a TZ that names no known zone, such as %s,', (TZ) => {
  const warning =
    `imgctl: warning: unknown time zone in TZ: '${TZ}'; local times are UTC\n` +
    'hint: set TZ to a name such as Europe/Berlin\n';

  it('is UTC, with one warning if a local time is shown or typed', async () => {
    const shown = await list(TZ, '--time', 'local');
    expect(shown).toEqual({ lines: ['2024-01-15 22:13', '2024-07-15 22:13'], stderr: warning });
    const typed = await list(TZ, '-f', 'updated_on<2024-01-15 22:14');
    expect(typed).toEqual({ lines: [TIMES[0]], stderr: warning });
  });

  it('needs no warning if no local time is used', async () => {
    expect(await list(TZ, '-f', 'updated_on<2024-02-01T00:00Z')).toMatchObject({ stderr: '' });
  });
});

it('a password command receives TZ as it is', async () => {
  const file = path.join(temporaryDirectory(), 'zone');
  const { IMGCTL_PASSWORD, ...user } = account('http://127.0.0.1:9/v2');
  const command = `printf %s "$TZ" > '${file}'; echo ${IMGCTL_PASSWORD}`;
  const env = { ...user, IMGCTL_PASSWORD_COMMAND: command, TZ: ':/etc/localtime' };
  await runProgram(['login', '--retries', '0'], { env });
  expect(execFileSync('cat', [file], { encoding: 'utf8' })).toBe(':/etc/localtime');
});
