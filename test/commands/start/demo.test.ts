// demo: what it shows, which is demo.txt, and what it says if it cannot. After a change:
// npx vitest run --project unit test/commands/start/demo.test.ts -u

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { type FakeIo, failed, fakeIo, runCli, temporaryDirectory } from '../../support/io.ts';

let folder = '';

beforeEach(() => {
  folder = temporaryDirectory();
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => void vi.unstubAllEnvs());
});

it('demo does the whole job with no settings of the user, and leaves nothing behind', async () => {
  const time = Date.UTC(2026, 10, 21, 15);
  const env = { IMGCTL_OUTPUT: 'csv', npm_command: 'exec' };
  const { stdout, stderr, exitCode } = await runCli(['demo'], { time, env });
  const shown = stdout.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST').replace(/(stored_in +).*/, '$1FILE');
  await expect(`${shown}---\n${stderr}`).toMatchFileSnapshot('demo.txt');
  expect({ exitCode, left: readdirSync(folder) }).toEqual({ exitCode: 0, left: [] });
  const [baseUrl = ''] = /http:\S+/.exec(stdout) ?? [];
  await expect(fetch(baseUrl)).rejects.toThrow('fetch failed');
});

/** Runs the demo, and does something when it writes this text. */
function demoUntil(text: string, act: (io: FakeIo) => void) {
  const io = fakeIo({ time: 0 });
  const { stdout } = io;
  const write = stdout.write.bind(stdout);
  stdout.write = async (data) => {
    if (`${data}`.includes(text)) act(io);
    await write(data);
  };
  return runCli(['demo'], io);
}

it.each([
  ['during', '$ imgctl images list', /\n\$ imgctl images list .*\n$/],
  ['after', 'token_state', /\nstored_in .*\n$/],
])('demo says that it was interrupted %s a command', async (_, text, end) => {
  expect(await demoUntil(text, (io) => io.interrupt())).toEqual({
    stdout: expect.stringMatching(end),
    stderr: 'imgctl: demo interrupted; nothing was left behind\n',
    exitCode: 130,
  });
  expect(readdirSync(folder)).toEqual([]);
});

it('demo says at which command it failed, below the error of that command', async () => {
  const { stderr, exitCode } = await demoUntil('$ imgctl inspect sample.ova', () => {
    const [name = ''] = readdirSync(folder);
    expect(name).toMatch(/^imgctl-demo-/);
    rmSync(path.join(folder, name, 'sample.ova'));
  });
  expect(stderr).toMatch(
    /\nimgctl: file sample\.ova does not exist\nhint: .*\nimgctl: the demo failed at: imgctl inspect sample\.ova\n$/,
  );
  expect({ exitCode, left: readdirSync(folder) }).toEqual({ exitCode: 1, left: [] });
});

it('demo needs a folder for temporary files', async () => {
  const none = path.join(folder, 'none');
  vi.stubEnv('TMPDIR', none);
  const hint = 'set TMPDIR to a writable folder with free space: TMPDIR="$HOME" imgctl demo';
  const message = `imgctl: cannot use ${none} for the demo: no such file or directory\nhint: ${hint}\n`;
  expect(await runCli(['demo'])).toEqual(failed(2, message));
});
