// The built program with a fake keychain, GNOME Keyring, and docker-credential-pass with GnuPG.

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

/** Returns the environment of alice, without the password, at an emulator. */
async function alice() {
  const { baseUrl } = await serve({ users: [{ name: 'alice', password: PASSWORD }] });
  const { IMGCTL_PASSWORD: _password, ...env } = account(baseUrl, 'alice');
  const { HOME: home = '' } = env;
  return { env, home, tokens: path.join(home, '.config/imgctl/tokens') };
}

it('login --store-password stores a password that renews the token and is shown nowhere', async () => {
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
  const calls = keychain.calls().map((call) => [call.argv, call.env]);
  const seen = JSON.stringify([results, files, calls]);
  expect(seen).not.toContain(PASSWORD);
  expect(seen).not.toContain(Buffer.from(PASSWORD).toString('base64'));
});

const NEEDED = ['dbus-run-session', 'gnome-keyring-daemon', 'secret-tool'];
const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
const reason = missing.length > 0 ? ` (skipped: ${missing.join(', ')} not installed)` : '';

it.skipIf(missing.length > 0)(
  `login --store-password works with GNOME Keyring${reason}`,
  async () => {
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
      stderr: expect.stringContaining('deleted the stored password'),
    });
  },
);

const NEEDED_BY_PASS = ['docker-credential-pass', 'pass', 'gpg'];
const missingForPass = NEEDED_BY_PASS.filter((name) => spawnSync('which', [name]).status !== 0);
const passReason =
  missingForPass.length > 0 ? ` (skipped: ${missingForPass.join(', ')} not installed)` : '';

it.skipIf(missingForPass.length > 0)(
  `login --store-password, a renewal and logout work with docker-credential-pass${passReason}`,
  async () => {
    const { env, tokens } = await alice();
    const run = (program: string, ...args: string[]) =>
      spawnSync(program, args, { env, encoding: 'utf8', timeout: 30_000 });
    const key = ['--batch', '--passphrase', '', '--quick-generate-key', 'alice@example.com'];
    expect(run('gpg', ...key)).toMatchObject({ status: 0 });
    expect(run('pass', 'init', 'alice@example.com')).toMatchObject({ status: 0 });
    try {
      const imgctl = (argv: string[], stdin?: string) => runBuilt(argv, { env, stdin });
      const setting = ['config', 'set', 'credential-helper', 'pass'];
      const results = [await imgctl(setting), await imgctl(LOGIN, PASSWORD)];
      expect(run('docker-credential-pass', 'list').stdout).toContain(
        `"${env.IMGCTL_BASE_URL}":"alice"`,
      );
      rmSync(tokens, { recursive: true });
      results.push(await imgctl(['whoami', '--check', '--debug']));
      const files = filesBelow(env.HOME).map((file) => readFileSync(file, 'utf8'));
      results.push(await imgctl(['logout', '--debug']));
      expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0, 0]);
      expect(run('docker-credential-pass', 'list').stdout.trim()).toBe('{}');
      const seen = JSON.stringify([results, files]);
      expect(seen).not.toContain(PASSWORD);
      expect(seen).not.toContain(Buffer.from(PASSWORD).toString('base64'));
    } finally {
      run('gpgconf', '--kill', 'gpg-agent');
    }
  },
);
