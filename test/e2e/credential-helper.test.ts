// The built program with docker-credential-pass, GnuPG and pass.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { filesBelow } from '../support/files.ts';

const PASSWORD = 'canary-of-a-pässword';

const NEEDED = ['docker-credential-pass', 'pass', 'gpg'];
const missing = NEEDED.filter((name) => spawnSync('which', [name]).status !== 0);
const reason = missing.length > 0 ? ` (skipped: ${missing.join(', ')} not installed)` : '';

it.skipIf(missing.length > 0)(
  `login --store-password, a renewal and logout work with docker-credential-pass${reason}`,
  async () => {
    const { baseUrl } = await serve({ users: [{ name: 'alice', password: PASSWORD }] });
    const { IMGCTL_PASSWORD: _password, ...env } = account(baseUrl, 'alice');
    const run = (program: string, ...args: string[]) =>
      spawnSync(program, args, { env, encoding: 'utf8', timeout: 30_000 });
    const key = ['--batch', '--passphrase', '', '--quick-generate-key', 'alice@example.com'];
    expect(run('gpg', ...key)).toMatchObject({ status: 0 });
    expect(run('pass', 'init', 'alice@example.com')).toMatchObject({ status: 0 });
    try {
      const imgctl = (argv: string[], stdin?: string) => runBuilt(argv, { env, stdin });
      const setting = ['config', 'set', 'credential-helper', 'pass'];
      const login = ['login', '--store-password', '--password-stdin', '--debug'];
      const results = [await imgctl(setting), await imgctl(login, PASSWORD)];
      expect(run('docker-credential-pass', 'list').stdout).toContain(`"${baseUrl}":"alice"`);
      rmSync(path.join(env.HOME, '.config/imgctl/tokens'), { recursive: true });
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
