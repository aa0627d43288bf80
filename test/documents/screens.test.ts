// What users see on real terminals of three sizes: test/documents/screens has a file for each size. After a change:
// npx vitest run --config vitest.suites.mts --project documents test/documents/screens.test.ts -u

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { serve } from '../support/emulator.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { runProgram } from '../support/program.ts';
import { NO_SCRIPT, onTerminal } from '../support/pseudo-terminal.ts';
import { account } from '../support/users.ts';

/** Asks which image is meant. */
const ASKS = 'images latest ubuntu 22.04';

const SCENES = [
  '--help',
  'images list ubuntu -n 4',
  'images latest debian --each',
  ASKS,
  'images latest ubuntu 22.04 server --explain',
  'images lock check',
  'images changes ubuntu --since-file old.json',
  'push appliance.ova',
  'sync --wait --poll-interval 20ms',
  'doctor',
  'images list ubuntu --sotr updated_on,desc',
];

/** Lines of a spinner, up to where they are erased. */
const ERASED = /[^\n]*\u001b\[1G\u001b\[0K/g;

/** A user with a login, a storage, a package, and a snapshot from before some images changed. */
async function screenUser() {
  const env = account('', 'demo');
  const uploads = path.join(env.HOME, 'uploads');
  mkdirSync(path.join(uploads, 'demo'), { recursive: true });
  const service = await serve({ uploads, syncDelay: 1, seed: 5 });
  const user = { ...env, IMGCTL_BASE_URL: service.baseUrl, TZ: 'UTC', LANG: 'C.UTF-8' };
  const imgctl = (line: string) =>
    runProgram(line.split(' '), { env: user, prelude: 'cd "$HOME"' });
  await imgctl('login');
  await imgctl(`config set upload-url file://${uploads}/demo`);
  await writeSampleOva(path.join(env.HOME, 'appliance.ova'), 'appliance');
  const file = path.join(env.HOME, 'old.json');
  await imgctl('images snapshot old.json');
  const old = JSON.parse(readFileSync(file, 'utf8'));
  const ubuntu: Image[] = old.images.filter(({ folder }: Image) => folder === 'ubuntu');
  Object.assign(ubuntu[0] ?? {}, { folder: 'incoming' });
  Object.assign(ubuntu[1] ?? {}, { updated_on: '2024-01-02 Tue 03:04:05 UTC' });
  old.images = old.images.filter((image: Image) => image !== ubuntu[2]);
  writeFileSync(file, JSON.stringify(old));
  await imgctl('images lock add base debian 12 genericcloud');
  await imgctl('images lock add web ubuntu 22.04 server');
  await imgctl('images lock add rescue rocky 9 Base');
  // An image of the same series, and one that does not exist.
  const lockFile = path.join(env.HOME, 'images.lock.json');
  const locks = JSON.parse(readFileSync(lockFile, 'utf8'));
  const isOlder = ({ id, name }: Image) =>
    id !== locks.images.base.id && name.startsWith('debian-12-genericcloud-amd64-');
  Object.assign(locks.images.base, old.images.find(isOlder));
  locks.images.rescue.id = 99_999;
  writeFileSync(lockFile, JSON.stringify(locks));
  const spoil = () => writeFileSync(path.join(uploads, 'demo/broken.ova'), 'x'.repeat(300));
  return { user, baseUrl: service.baseUrl, spoil };
}

it.skipIf(NO_SCRIPT).each([
  [80, 24],
  [50, 24],
  [120, 40],
])(
  `on a terminal of %ix%i, commands show what users should see${NO_SCRIPT}`,
  async (columns, rows) => {
    const { user, baseUrl, spoil } = await screenUser();
    let text = '';
    for (const scene of SCENES) {
      if (scene.startsWith('sync')) spoil();
      const setup = `cd $HOME; stty cols ${columns} rows ${rows}`;
      const started = onTerminal(user, `${setup}; eval "$IMGCTL ${scene}"`);
      if (scene === ASKS) {
        await started.waitFor('stdout', 'Which one?');
        started.child.stdin?.write('2\n');
      }
      const { stdout } = await started.ended;
      text += `$ imgctl ${scene}\n${stdout.replaceAll(ERASED, '').replaceAll('\r\n', '\n')}\n`;
    }
    const shown = text
      .replaceAll(baseUrl, 'http://127.0.0.1:8080')
      .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
      .replaceAll(user.HOME, '/home/demo')
      .replaceAll(/20(?:2[6-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d/g, '2025-08-01 09:30')
      .replace(/imgctl [\w.-]+, Node [\d.]+ on \w+ \w+/, 'imgctl 0.1.0, Node 24.0.0 on linux x64')
      .replaceAll(/in \d+ s\b/g, 'in 0 s')
      .replaceAll('\u001b', '␛');
    // Colours once: they do not depend on the size.
    const file = `screens/${columns}x${rows}.txt`;
    await expect(columns === 80 ? shown : shown.replaceAll(/␛\[\d+m/g, '')).toMatchFileSnapshot(
      file,
    );
  },
);
