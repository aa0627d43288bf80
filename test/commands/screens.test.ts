// What a user sees on a terminal of 80 columns, with and without colour: test/commands/screens has a file for each.
// After a change of the look: npx vitest run --project unit test/commands/screens.test.ts -u

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { type FakeIo, fakeIo, fakeTerminal, runCli, temporaryDirectory } from '../support/io.ts';
import { MemorySink } from '../support/memory-sink.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const NOON = Date.UTC(2026, 2, 5, 12);

interface Scene {
  readonly name: string;
  /** Command lines; the screen shows the last one. */
  readonly lines: readonly string[];
  readonly typed?: string;
  readonly hasPassword?: boolean;
}

const PUSH = 'push --to file://UPLOADS/demo --poll-interval 10ms';

const SCENES: readonly Scene[] = [
  { name: 'help', lines: ['--help'] },
  { name: 'login', lines: ['login'], typed: 'demo\r' },
  { name: 'list', lines: ['images list ubuntu --limit 6'], hasPassword: true },
  { name: 'sync', lines: ['sync --wait --poll-interval 10ms'], hasPassword: true },
  { name: 'push', lines: [`${PUSH} sample.ova`, `${PUSH} vm.ova sample.ova`], hasPassword: true },
  { name: 'validate', lines: ['validate sample.ova broken.ova'] },
  { name: 'doctor', lines: ['login', 'doctor'], hasPassword: true },
];

/** Lines of a spinner, which it erases. */
const ERASED = /[^\n]*\u001b\[1G\u001b\[0K/g;

async function screenOf({ name, lines, typed, hasPassword }: Scene, color: boolean) {
  const folder = temporaryDirectory();
  const uploads = path.join(folder, 'uploads');
  mkdirSync(path.join(uploads, 'demo'), { recursive: true });
  for (const own of ['sample.ova', 'vm.ova']) await writeSampleOva(path.join(folder, own));
  await writeSampleOva(path.join(uploads, 'demo', 'sample.ova'));
  writeFileSync(path.join(folder, 'broken.ova'), 'x'.repeat(300));
  const screen: { io?: FakeIo } = {};
  // A sync takes real time, and doctor compares with the Date header of the service.
  const time = ['sync', 'push', 'doctor'].includes(name) ? undefined : NOON;
  const now = () => screen.io?.now() ?? time ?? Date.now();
  const { env, emulator } = await emulatorUser({ images: 60, now, uploads, syncDelay: 1 });
  let sink = new MemorySink(80);
  for (const line of lines) {
    sink = new MemorySink(80);
    const io = fakeIo({
      ...(time === undefined ? {} : { time }),
      color,
      cwd: folder,
      env: { ...env, ...(hasPassword ? PASSWORD : {}) },
      stdin: fakeTerminal(typed),
    });
    const system = { ...io.system, runtime: 'Node 24.0.0 on linux x64' };
    screen.io = { ...io, stdout: sink, stderr: sink, system };
    await runCli(line.replace('UPLOADS', uploads).split(' '), screen.io);
  }
  return sink.text
    .replaceAll(ERASED, '')
    .replaceAll(emulator.baseUrl, 'http://127.0.0.1:8080')
    .replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:8080')
    .replaceAll(env.IMGCTL_CONFIG_DIR, '/home/demo/.config/imgctl')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, (stamp) => (time ? stamp : '2026-03-05 12:00'))
    .replace(/(?<=succeeded) in \d+ s/, '')
    .replace(/imgctl [\w.-]+(?=, Node)/, 'imgctl 0.1.0')
    .replaceAll('\u001b', '␛');
}

afterAll(() => void vi.unstubAllEnvs());

describe.each(SCENES)('the screen of $name', (scene) => {
  const test = scene.name === 'doctor' ? unixOnly('modes are Unix') : it;
  test.each([
    ['in colour', true, `${scene.name}.color.txt`],
    ['without colour', false, `${scene.name}.txt`],
  ])('is as expected %s', async (_how, color, file) => {
    const text = await screenOf(scene, color);
    // The overview has a line per command.
    expect(text.trim().split('\n').length).toBeLessThan(scene.name === 'help' ? 40 : 24);
    if (!color) expect(text).not.toContain('␛');
    await expect(text).toMatchFileSnapshot(`screens/${file}`);
  });
});
