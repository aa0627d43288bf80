// The built program with GNOME Keyring, and with docker-credential-pass and GnuPG.

import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serve } from '../support/emulator.ts';
import { filesBelow } from '../support/files.ts';
import { runProgram, SHELL_COMMAND } from '../support/program.ts';
import { missing, skipped } from '../support/requirements.ts';
import { account } from '../support/users.ts';

const PASSWORD = 'canary-of-a-pässword';
const LOGIN = ['login', '--store-password', '--password-stdin', '--debug'];

/** Returns the environment of alice, without the password, at an emulator. */
async function alice() {
  const { baseUrl } = await serve({ users: [{ name: 'alice', password: PASSWORD }] });
  const { IMGCTL_PASSWORD: _password, ...env } = account(baseUrl, 'alice');
  const { HOME: home = '' } = env;
  return { env, home, tokens: path.join(home, '.config/imgctl/tokens') };
}

/** Fails if anything here shows the password. */
function expectNoPassword(...seen: readonly unknown[]): void {
  const text = JSON.stringify(seen);
  expect(text).not.toContain(PASSWORD);
  expect(text).not.toContain(Buffer.from(PASSWORD).toString('base64'));
}

const gnome = skipped(missing('dbus-run-session', 'gnome-keyring-daemon', 'secret-tool'));

it.skipIf(gnome)(`login --store-password works with GNOME Keyring${gnome}`, async ({ signal }) => {
  const { env } = await alice();
  const script = `
    printf keyring | gnome-keyring-daemon --unlock --components=secrets > /dev/null
    imgctl() { ${SHELL_COMMAND} "$@"; }
    printf '%s' '${PASSWORD}' | imgctl ${LOGIN.join(' ')} || exit
    rm -r "$HOME/.config/imgctl/tokens"
    imgctl whoami --check -q || exit
    secret-tool lookup service imgctl profile default username alice || exit
    imgctl logout || exit
    secret-tool lookup service imgctl || echo " forgotten"`;
  const session = promisify(execFile)('dbus-run-session', ['--', 'sh', '-c', script], {
    ...{ env, killSignal: 'SIGKILL', signal },
  });
  const { stdout, stderr } = await session;
  expect({ stdout, stderr }).toEqual({
    stdout: `alice\n${PASSWORD} forgotten\n`,
    stderr: expect.stringContaining('deleted the stored password'),
  });
});

const pass = skipped(missing('docker-credential-pass', 'pass', 'gpg'));

it.skipIf(pass)(
  `login --store-password, a renewal and logout work with docker-credential-pass${pass}`,
  async ({ signal }) => {
    const { env, tokens } = await alice();
    const run = async (program: string, ...args: string[]) =>
      (await promisify(execFile)(program, args, { env, signal })).stdout;
    const key = ['--batch', '--passphrase', '', '--quick-generate-key', 'alice@example.com'];
    try {
      await run('gpg', ...key);
      await run('pass', 'init', 'alice@example.com');
      const imgctl = (argv: string[], stdin?: string) => runProgram(argv, { env, stdin });
      const setting = ['config', 'set', 'credential-helper', 'pass'];
      const results = [await imgctl(setting), await imgctl(LOGIN, PASSWORD)];
      expect(await run('docker-credential-pass', 'list')).toContain(
        `"${env.IMGCTL_BASE_URL}":"alice"`,
      );
      rmSync(tokens, { recursive: true });
      results.push(await imgctl(['whoami', '--check', '--debug']));
      const files = filesBelow(env.HOME).map((file) => readFileSync(file, 'utf8'));
      results.push(await imgctl(['logout', '--debug']));
      expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
      expect((await run('docker-credential-pass', 'list')).trim()).toBe('{}');
      expectNoPassword(results, files);
    } finally {
      await promisify(execFile)('gpgconf', ['--kill', 'gpg-agent'], { env });
    }
  },
);
