// What users see on a terminal of 80 columns: screens.txt. After a change of the look:
// npx vitest run --project unit test/commands/screens.test.ts -u

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, vi } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { serve } from '../support/emulator.ts';
import { fakeIo, fakeTerminal, runCli } from '../support/io.ts';
import { MemorySink } from '../support/memory-sink.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';
import { account } from '../support/users.ts';

/** Lines, with the keys that are typed. */
const SCENES: readonly (readonly [line: string, typed?: string])[] = [
  ['--help'],
  ['login', 'demo\r'],
  ['images list ubuntu -n 4'],
  ['images latest debian --each'],
  ['images latest ubuntu 22.04', '2\n'],
  ['images latest ubuntu 22.04 server --explain'],
  ['images lock check'],
  ['images changes ubuntu --since-file old.json'],
  ['push appliance.ova --poll-interval 500ms'],
  ['sync --wait --poll-interval 500ms'],
  ['validate appliance.ova broken.ova'],
  ['doctor'],
  ['images list ubuntu --sotr updated_on,desc'],
];

/** A user with a storage, packages, locks, and a snapshot from before some images changed. */
async function screenUser() {
  // Where lines break depends on the length of its path.
  vi.stubEnv('TMPDIR', '/tmp');
  const env = account('');
  vi.unstubAllEnvs();
  const home = env.HOME;
  const uploads = path.join(home, 'uploads');
  mkdirSync(path.join(uploads, 'demo'), { recursive: true });
  const { baseUrl } = await serve({ uploads, syncDelay: 1, seed: 5 });
  const show = async (line: string, typed?: string) => {
    const sink = new MemorySink(80);
    const password = line === 'login' ? {} : { IMGCTL_PASSWORD: 'demo' };
    const io = fakeIo({
      env: { ...env, IMGCTL_BASE_URL: baseUrl, IMGCTL_PASSWORD: undefined, ...password },
      ...{ color: true, cwd: home, stdin: fakeTerminal(typed) },
    });
    const system = { ...io.system, runtime: 'Node 24.0.0 on linux x64' };
    await runCli(line.split(' '), { ...io, stdout: sink, stderr: sink, system });
    return sink.text;
  };
  await writeSampleOva(path.join(home, 'appliance.ova'), 'appliance');
  writeFileSync(path.join(home, 'broken.ova'), 'x'.repeat(300));
  await show(`config set upload-url file://${uploads}/demo`);
  const file = path.join(home, 'old.json');
  await show('images snapshot old.json');
  const old = JSON.parse(readFileSync(file, 'utf8'));
  const ubuntu: Image[] = old.images.filter(({ folder }: Image) => folder === 'ubuntu');
  Object.assign(ubuntu[0] ?? {}, { folder: 'incoming' });
  Object.assign(ubuntu[1] ?? {}, { updated_on: '2024-01-02 Tue 03:04:05 UTC' });
  old.images = old.images.filter((image: Image) => image !== ubuntu[2]);
  writeFileSync(file, JSON.stringify(old));
  const locks = ['base debian 12 genericcloud', 'web ubuntu 22.04 server', 'rescue rocky 9 Base'];
  for (const lock of locks) await show(`images lock add ${lock}`);
  // An image of the same series, and one that does not exist.
  const lockFile = path.join(home, 'images.lock.json');
  const locked = JSON.parse(readFileSync(lockFile, 'utf8'));
  const isOlder = ({ id, name }: Image) =>
    id !== locked.images.base.id && name.startsWith('debian-12-genericcloud-amd64-');
  Object.assign(locked.images.base, old.images.find(isOlder));
  locked.images.rescue.id = 99_999;
  writeFileSync(lockFile, JSON.stringify(locked));
  const spoil = () => writeFileSync(path.join(uploads, 'demo/broken.ova'), 'x'.repeat(300));
  return { show, home, baseUrl, spoil };
}

unixOnly('modes are Unix')('commands show on a terminal what users should see', async () => {
  const { show, home, baseUrl, spoil } = await screenUser();
  let text = '';
  for (const [line, typed] of SCENES) {
    if (line.startsWith('sync')) spoil();
    const shown = await show(line, typed);
    // The overview has a line per command.
    expect(shown.split('\n').length).toBeLessThan(line === '--help' ? 45 : 25);
    text += `$ imgctl ${line}\n${shown}\n`;
  }
  const shown = text
    .replaceAll(baseUrl, 'http://127.0.0.1:8080')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
    .replaceAll(home, '/home/demo')
    .replaceAll(/20(?:2[6-9]|[3-9]\d)-\d\d-\d\d \d\d:\d\d/g, '2025-08-01 09:30')
    .replace(/imgctl [\w.-]+(?=, Node)/, 'imgctl 0.1.0')
    .replaceAll(/in \d+ s\b/g, 'in 0 s')
    .replaceAll('\u001b', '␛');
  await expect(shown).toMatchFileSnapshot('screens.txt');
});
