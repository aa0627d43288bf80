// Measures the start-up of imgctl: CPU time of whole processes that run in turn, as medians.
// Usage: node bench/start.mjs [runs]   (default: 25)   Needs bash, openssl, and npx for Node 22 and 24.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const RUNS = Number(process.argv[2] ?? 25);
const WARM_UPS = 3;
const launcher = fileURLToPath(import.meta.resolve('../bin/imgctl.js'));
// A new home, as in a container or for a cron job.
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const key = join(folder, 'key.pem');
const certificate = join(folder, 'certificate.pem');
const env = { PATH: process.env.PATH, HOME: folder, NODE_EXTRA_CA_CERTS: certificate };
let service;

try {
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  run('openssl', [...kind, ...names, '-keyout', key, '-out', certificate]);
  const page = fileURLToPath(import.meta.resolve('./https-page.mjs'));
  service = spawn(process.execPath, [page, key, certificate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(service.stdout, 'data');
  const baseUrl = String(line).trim();
  const scripts = writeScripts(baseUrl);
  const login = ['login', '--base-url', baseUrl, '--username', 'bench'];
  run(process.execPath, [launcher, ...login], { IMGCTL_PASSWORD: 'bench' });
  for (const version of [undefined, 22, 24]) reportNode(nodeOf(version), scripts);
} finally {
  service?.kill();
  rmSync(folder, { recursive: true });
}

/** Returns the path of a Node of this major version, or of this Node. */
function nodeOf(version) {
  if (version === undefined) return process.execPath;
  const { stdout } = spawnSync('npx', ['--yes', `node@${version}`, '-p', 'process.execPath']);
  return String(stdout).trim();
}

/** Writes the scripts to compare with: an empty one, and one that prints the same page with node:https. */
function writeScripts(baseUrl) {
  const empty = join(folder, 'empty.js');
  const https = join(folder, 'https.js');
  const url = `${baseUrl}/v2/image?per_page=100&expand=1`;
  writeFileSync(empty, '');
  writeFileSync(
    https,
    `require('node:https').get('${url}', { headers: { authorization: 'Bearer bench' } }, (response) => {
  let body = '';
  response.setEncoding('utf8');
  response.on('data', (chunk) => { body += chunk; });
  response.on('end', () => process.stdout.write(JSON.stringify(JSON.parse(body).data, null, 2) + '\\n'));
});`,
  );
  return { empty, https };
}

function reportNode(node, { empty, https }) {
  const list = [launcher, 'images', 'list', '--json'];
  const samePage = run(node, [https]).stdout === run(node, [...list, '--time', 'raw']).stdout;
  if (!samePage) throw new Error('imgctl and the node:https script print different pages');
  const commands = {
    'node, an empty file': [empty],
    'imgctl --version': [launcher, '--version'],
    'imgctl completion bash': [launcher, 'completion', 'bash'],
    'imgctl __complete': [launcher, '__complete', '--', 'images', 'get', ''],
    'imgctl images list --help': [launcher, 'images', 'list', '--help'],
    'node:https, one page': [https],
    'imgctl images list --json': list,
  };
  const names = Object.keys(commands);
  const times = new Map(names.map((name) => [name, []]));
  for (let turn = -WARM_UPS; turn < RUNS; turn += 1) {
    for (const name of names) {
      const time = cpuTime([node, ...commands[name]]);
      if (turn >= 0) times.get(name).push(time);
    }
  }
  const [base, page] = [names[0], names[5]].map((name) => median(times.get(name)));
  const { stdout: version } = run(node, ['--version']);
  process.stdout.write(`Node ${version.trim()}, median CPU ms of ${RUNS} runs\n`);
  for (const name of names) {
    const cost = median(times.get(name));
    const ratio =
      name === names[6]
        ? `${(cost / page).toFixed(2)} x node:https`
        : `${(cost / base).toFixed(2)} x an empty file`;
    process.stdout.write(`${name.padEnd(28)}${cost.toFixed(1).padStart(6)}  ${ratio}\n`);
  }
}

/** Returns user plus system time of all threads of one run in milliseconds. */
function cpuTime(command) {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null';
  const { stderr } = run('bash', ['-c', script, 'bash', ...command]);
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return (user + system) * 1_000;
}

function run(command, words, more = {}) {
  const result = spawnSync(command, words, { encoding: 'utf8', env: { ...env, ...more } });
  if (result.status === 0) return result;
  const reason = `${command} ${words.join(' ')} ended with ${result.status}: ${result.stderr}`;
  throw result.error ?? new Error(reason);
}
