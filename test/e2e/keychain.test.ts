// The built program and the system keychain: its program as a stand-in, and GNOME Keyring itself.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { account, runBuilt, SHELL_COMMAND } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { filesBelow } from '../support/files.ts';
import { fakeKeychain } from '../support/keychain.ts';

const PASSWORD = 'canary-of-a-pässword';
const LOGIN = ['login', '--store-password', '--password-stdin', '--debug'];

/** A service with the user alice, and her environment without the password. */
async function alice() {
  const { baseUrl } = await serve({ users: [{ name: 'alice', password: PASSWORD }] });
  const { IMGCTL_PASSWORD: _password, ...env } = account(baseUrl, 'alice');
  const { HOME: home = '' } = env;
  return { env, home, tokens: path.join(home, '.config/imgctl/tokens') };
}

it('keeps the password, renews by it, shows it nowhere and forgets it', async () => {
  const user = await alice();
  const keychain = fakeKeychain(process.platform === 'darwin' ? 'security' : 'secret-tool');
  const env = { ...user.env, PATH: keychain.PATH };
  const results = [await runBuilt(LOGIN, { env, stdin: PASSWORD })];
  rmSync(user.tokens, { recursive: true });
  results.push(await runBuilt(['whoami', '--check', '--debug'], { env }));
  const files = filesBelow(user.home).map((file) => readFileSync(file, 'utf8'));
  expect(files.join()).toContain('stored-password');
  results.push(await runBuilt(['logout', '--debug'], { env }));
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  expect(keychain.held()).toEqual({});
  const asked = keychain.calls().map((call) => [call.argv, call.env]);
  const seen = JSON.stringify([results, files, asked]);
  expect(seen).not.toContain(PASSWORD);
  expect(seen).not.toContain(Buffer.from(PASSWORD).toString('base64'));
});

const NEEDED = ['dbus-run-session', 'gnome-keyring-daemon', 'secret-tool'];
const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
const reason = missing.length > 0 ? ` (skipped: there is no ${missing.join(', ')})` : '';

it.skipIf(missing.length > 0)(`does so with GNOME Keyring${reason}`, async () => {
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
  const child = spawn('dbus-run-session', ['--', 'sh', '-c', script], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [stdout, stderr] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  expect({ stdout, stderr }).toEqual({
    stdout: `alice\n${PASSWORD} forgotten\n`,
    stderr: expect.stringContaining('the stored password is forgotten'),
  });
});
