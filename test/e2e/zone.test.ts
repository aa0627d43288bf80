// The time zone of the built program: what it shows, when it warns, and what its child processes receive.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { testImages } from '../support/catalogue-page.ts';
import { temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { skipped } from '../support/requirements.ts';
import { account, freshHome } from '../support/users.ts';

const TIME = '2024-07-15T22:13:00Z';
const HEAD = { version: 1, taken_at: TIME, base_url: 'https://a.example/v2', username: null };
const reason = existsSync('/usr/share/zoneinfo/Asia/Kolkata') ? '' : 'tzdata is not installed';
const WARNING =
  "imgctl: warning: unknown time zone in TZ: 'IST-5:30'; local times are UTC\n" +
  'hint: set TZ to a name such as Europe/Berlin\n';

it.skipIf(reason).each([
  [':Europe/Berlin', '--time local', '2024-07-16 00:13', ''],
  ['IST-5:30', '--time local', '2024-07-15 22:13', WARNING],
  ['IST-5:30', '-f updated_on>2024-07-15', '', WARNING],
  // No local time is shown or typed.
  ['IST-5:30', '-f updated_on<2024-08-01T00:00Z', TIME, ''],
])(`TZ=%s imgctl images list %s shows %s${skipped(reason)}`, async (TZ, options, line, stderr) => {
  const file = path.join(temporaryDirectory(), 'all.json');
  const images = testImages(1).map((image) => ({ ...image, updated_on: TIME }));
  writeFileSync(file, JSON.stringify({ ...HEAD, images }));
  const words = ['images', 'list', '--from', file, '-c', 'updated_on', '-o', 'csv', '--no-header'];
  const env = { ...freshHome(), TZ };
  const result = await runProgram([...words, ...options.split(' ')], { env });
  expect(result).toMatchObject({ stdout: line && `${line}\r\n`, stderr });
});

it('a password command receives TZ as it is', async () => {
  const file = path.join(temporaryDirectory(), 'zone');
  const { IMGCTL_PASSWORD, ...user } = account('http://127.0.0.1:9/v2');
  const command = `printf %s "$TZ" > '${file}'; echo ${IMGCTL_PASSWORD}`;
  const env = { ...user, IMGCTL_PASSWORD_COMMAND: command, TZ: ':/etc/localtime' };
  await runProgram(['login', '--retries', '0'], { env });
  expect(readFileSync(file, 'utf8')).toBe(':/etc/localtime');
});
