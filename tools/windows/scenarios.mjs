// What the Windows executable has to do in Wine, against the emulator on this machine.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeAppliance } from '../appliance.mjs';
import { ROOT } from '../release.mjs';
import { start, WORK } from './wine.mjs';

const LAUNCHER = join(ROOT, 'bin/imgctl.js');
const PASSWORD = 'open-sesame';
/** Seconds that a token is valid: enough for eight processes that start together. */
const TOKEN_TTL = 30;
const PARALLEL = 8;
const CTRL_C = '\u0003';

const uploads = join(WORK, 'uploads');
let baseUrl = '';
let folders = 0;

/** Returns the environment of a new user with settings of their own. */
function newUser(more = {}) {
  folders += 1;
  return {
    IMGCTL_CONFIG_DIR: `Z:\\home\\config${folders}`,
    IMGCTL_BASE_URL: baseUrl,
    IMGCTL_USERNAME: 'demo',
    IMGCTL_PASSWORD: PASSWORD,
    ...more,
  };
}

/** Runs the executable and returns its output; fails unless it exits with the code. */
async function imgctl(command, { env = newUser(), input = '', code = 0 } = {}) {
  const result = await start(['wine', 'imgctl.exe', ...command.split(' ')], { env, input }).ended;
  assert.equal(result.code, code, `${command}: ${result.code}\n${result.stdout}${result.stderr}`);
  return result;
}

/** Starts the executable on a pseudo-terminal. */
function onTerminal(command, env) {
  const running = start(['script', '-qefc', `wine imgctl.exe ${command}`, '/dev/null'], { env });
  return {
    ...running,
    async waitFor(text) {
      const until = Date.now() + 60_000;
      while (!running.output().includes(text)) {
        assert.ok(Date.now() < until, `no "${text}" in ${JSON.stringify(running.output())}`);
        await sleep(100);
      }
    },
  };
}

/** A line of the table, and what it checks; each returns a detail for the table. */
export const SCENARIOS = [
  ['version', async () => (await imgctl('--version')).stdout.trim()],
  [
    'paths of settings',
    async () => {
      const env = { ...newUser(), IMGCTL_CONFIG_DIR: '' };
      const { stdout } = await imgctl('config path', { env });
      assert.match(stdout, /^C:\\users\\[^\\]+\\AppData\\Roaming\\imgctl\\config\.json$/m);
      return stdout.trim();
    },
  ],
  [
    'login, whoami, logout',
    async () => {
      const env = { ...newUser(), IMGCTL_PASSWORD: '' };
      await imgctl(`login --base-url ${baseUrl} --username demo --password-stdin`, {
        env,
        input: `${PASSWORD}\r\n`,
      });
      const { stdout } = await imgctl('whoami --check --json', { env });
      assert.equal(JSON.parse(stdout).username, 'demo');
      await imgctl('logout', { env });
      await imgctl('whoami', { env, code: 4 });
      return 'password from standard input';
    },
  ],
  [
    'password command',
    async () => {
      const env = {
        ...newUser(),
        IMGCTL_PASSWORD: '',
        IMGCTL_PASSWORD_COMMAND: `echo ${PASSWORD}`,
      };
      assert.match((await imgctl('token', { env })).stdout, /^\S{20,}$/m);
      return 'run by cmd';
    },
  ],
  [
    'login on a terminal',
    async () => {
      const env = { ...newUser(), IMGCTL_PASSWORD: '' };
      const terminal = onTerminal('login', env);
      await terminal.waitFor('Password');
      terminal.stdin.write(`${PASSWORD}\r`);
      const { code, stdout } = await terminal.ended;
      assert.equal(code, 0, stdout);
      assert.equal(stdout.includes(PASSWORD), false, 'the password shows');
      return 'hidden password';
    },
  ],
  [
    'list',
    async () => {
      const env = newUser();
      const table = (await imgctl('images list ubuntu --limit 5', { env })).stdout;
      assert.equal(table.trim().split('\n').length, 6);
      const { stdout } = await imgctl('images list -s name --json', { env });
      assert.equal(JSON.parse(stdout).length, 250);
      return '250 images as json, 5 as a table';
    },
  ],
  [
    'sync',
    async () => {
      const { stdout } = await imgctl('sync --wait --json');
      assert.equal(JSON.parse(stdout).state, 'succeeded');
      const images = JSON.parse((await imgctl('my-images --json')).stdout);
      assert.equal(images.length, 1);
      return 'one image added';
    },
  ],
  [
    'validate and inspect',
    async () => {
      const { stderr } = await imgctl('validate Z:\\home\\uploads\\demo\\appliance.ovf');
      assert.match(stderr, /appliance\.ovf: valid/);
      const { stdout } = await imgctl('inspect uploads\\demo\\appliance.ovf --json');
      assert.equal(JSON.parse(stdout).kind, 'ovf');
      return 'with backslashes and a drive';
    },
  ],
  ['demo', async () => `exit ${(await imgctl('demo')).code}`],
  [
    'settings',
    async () => {
      const env = newUser();
      const set = (timeout) => imgctl(`config set timeout ${timeout}`, { env });
      await Promise.all(['11s', '12s', '13s', '14s'].map(set));
      const { stdout } = await imgctl('config get timeout', { env });
      assert.match(stdout, /1[1-4]s/);
      return 'four writers at once';
    },
  ],
  [
    'parallel logins',
    async () => {
      const limits = ['--token-ttl', `${TOKEN_TTL}s`, '--token-limit', '2', '--images', '250'];
      const env = newUser({ IMGCTL_BASE_URL: await emulator(...limits) });
      await imgctl('login', { env });
      await sleep(TOKEN_TTL * 1000);
      // The service allows fewer token requests than there are processes.
      const all = Array.from({ length: PARALLEL }, () => imgctl('images list -q', { env }));
      for (const { stdout } of await Promise.all(all)) {
        assert.equal(stdout.trim().split('\n').length, 250);
      }
      return `${PARALLEL} processes with an expired token`;
    },
  ],
  [
    'Ctrl-C in a wait',
    async () => {
      const env = newUser({ IMGCTL_BASE_URL: await emulator('--sync-delay', '1h') });
      const terminal = onTerminal('sync --wait', env);
      await terminal.waitFor('PENDING');
      terminal.stdin.write(CTRL_C);
      const { code, stdout } = await terminal.ended;
      assert.equal(code, 130, stdout);
      assert.match(stdout, /sync-status 1/);
      return 'exit 130 and the command that resumes';
    },
  ],
];

const emulators = [];

/** Starts an emulator on this machine and returns its URL. */
async function emulator(...options) {
  const user = ['--user', `demo:${PASSWORD}`];
  const argv = [LAUNCHER, 'emulator', '-q', '--port', '0', ...user, ...options];
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] });
  emulators.push(child);
  const [line] = await once(child.stdout, 'data');
  return JSON.parse(String(line)).base_url;
}

export async function openService() {
  rmSync(uploads, { recursive: true, force: true });
  writeAppliance(join(uploads, 'demo'));
  const options = ['--token-limit', '100', '--images', '250', '--sync-delay', '1s'];
  baseUrl = await emulator(...options, '--uploads', uploads);
}

export function closeService() {
  for (const child of emulators) child.kill();
}
