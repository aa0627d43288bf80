// Measures what imgctl costs beyond Node itself: CPU time of whole processes, run in turns, as medians.
// Usage: node bench/start.mjs [runs]   (25)   IMGCTL_BIN names another launcher, NODE_24 a Node 24 to use.
// Needs bash and openssl; without NODE_24 also the npm registry, to get one.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNode } from '../scripts/fetch-package.mjs';

const RUNS = Number(process.argv[2] ?? 25);
const WARM_UPS = 3;
const launcher = process.env.IMGCTL_BIN ?? fileURLToPath(import.meta.resolve('../bin/imgctl.js'));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
const certificate = join(folder, 'certificate.pem');
const environment = {
  PATH: process.env.PATH,
  HOME: folder,
  XDG_CACHE_HOME: folder,
  NODE_EXTRA_CA_CERTS: certificate,
};

const service = await startService();
try {
  const scripts = writeScripts(service.baseUrl);
  const nodes = [process.execPath, process.env.NODE_24 || fetchNode('24')];
  const login = ['login', '--base-url', service.baseUrl, '--username', 'bench'];
  checked(process.execPath, [launcher, ...login], { IMGCTL_PASSWORD: 'bench' });
  for (const node of nodes) report(node, measure(node, scripts));
} finally {
  service.process.kill();
  rmSync(folder, { recursive: true });
}

async function startService() {
  const key = join(folder, 'key.pem');
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2'];
  checked('openssl', [...kind, ...names, '-keyout', key, '-out', certificate]);
  const program = fileURLToPath(import.meta.resolve('./https-page.mjs'));
  const child = spawn(process.execPath, [program, key, certificate], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  return { process: child, baseUrl: String(line).trim() };
}

/** The yardsticks: nothing at all, and the same page fetched and printed by node:https alone. */
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

/** CPU milliseconds by contestant, a list each. */
function measure(node, { empty, https }) {
  const contestants = {
    empty: [empty],
    version: [launcher, '--version'],
    completion: [launcher, 'completion', 'bash'],
    complete: [launcher, '__complete', 'image-names'],
    help: [launcher, 'images', 'list', '--help'],
    https: [https],
    list: [launcher, 'images', 'list', '--json'],
  };
  const samePage = checked(node, contestants.https) === checked(node, contestants.list);
  if (!samePage) throw new Error('imgctl and the node:https script print different pages');
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let run = -WARM_UPS; run < RUNS; run += 1) {
    for (const [name, words] of Object.entries(contestants)) {
      const milliseconds = cpuTime(node, words);
      if (run >= 0) times[name].push(milliseconds);
    }
  }
  return times;
}

/** User and system time of all threads of one run; bash knows it to the millisecond. */
function cpuTime(node, words) {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null';
  const { stderr } = run('bash', ['-c', script, 'bash', node, ...words]);
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return (user + system) * 1_000;
}

function report(node, times) {
  const version = checked(node, ['--version']).trim();
  const { empty, https } = times;
  const lines = [
    `Node ${version}, median CPU ms of ${RUNS} runs`,
    row('node, an empty file', times.empty),
    row('imgctl --version', times.version, empty, 'an empty file'),
    row('imgctl completion bash', times.completion, empty, 'an empty file'),
    row('imgctl __complete', times.complete, empty, 'an empty file'),
    row('imgctl images list --help', times.help, empty, 'an empty file'),
    row('node:https, one page', https, empty, 'an empty file'),
    row('imgctl images list --json', times.list, https, 'node:https'),
  ];
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

function row(name, times, base, baseName) {
  const cost = median(times);
  const ratio = base ? `  ${(cost / median(base)).toFixed(2)} x ${baseName}` : '';
  return `${name.padEnd(28)}${cost.toFixed(1).padStart(6)}${ratio}`;
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)];
}

/** Standard output of a command that has to succeed. */
function checked(command, words, more) {
  return run(command, words, more).stdout;
}

function run(command, words, more = {}) {
  const result = spawnSync(command, words, { encoding: 'utf8', env: { ...environment, ...more } });
  if (result.error) throw result.error;
  if (result.status === 0) return result;
  throw new Error(`${command} ${words.join(' ')} ended with ${result.status}: ${result.stderr}`);
}
