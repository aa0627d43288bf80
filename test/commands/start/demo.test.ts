// demo: what it shows, which is demo.txt, and what it says if it cannot. After a change:
// npx vitest run --project unit test/commands/start/demo.test.ts -u

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { failed, fakeIo, runCli, temporaryDirectory } from '../../support/io.ts';

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

it('demo says that it was interrupted, and leaves nothing behind', async () => {
  const io = fakeIo({ time: 0 });
  const sleep: typeof io.sleep = async (...given) => {
    io.interrupt();
    await io.sleep(...given);
  };
  const { stderr, exitCode } = await runCli(['demo'], { ...io, sleep });
  expect(stderr).toMatch(/\nimgctl: demo interrupted; nothing was left behind\n$/);
  expect({ exitCode, left: readdirSync(folder) }).toEqual({ exitCode: 130, left: [] });
});

it('demo says at which command it failed, below the error of that command', async () => {
  const io = fakeIo({ time: 0 });
  const sleep: typeof io.sleep = async (...given) => {
    const [name = ''] = readdirSync(folder);
    expect(name).toMatch(/^imgctl-demo-/);
    rmSync(path.join(folder, name, 'uploads'), { recursive: true, force: true });
    await io.sleep(...given);
  };
  const { stderr, exitCode } = await runCli(['demo'], { ...io, sleep });
  const line = 'imgctl push sample.ova --poll-interval 500ms';
  expect(stderr).toMatch(
    new RegExp(`sync request 1 failed .*\nhint: .*\nimgctl: the demo failed at: ${line}\n$`),
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
