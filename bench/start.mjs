// Measures the start-up of imgctl: CPU time of whole processes that run in turn, as medians.
// Usage: node bench/start.mjs [runs]   (default: 25)   IMGCTL_BIN selects another launcher.
// Needs bash and openssl. It fetches Node 22 and 24 from the npm registry. The comparison of the single
// executable (npm run executables) needs gh and openstack (Debian: python3-openstackclient).

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchNode } from '../tools/fetch-package.mjs';
import { hasProgram } from '../tools/run.mjs';
import { median } from './measure.mjs';

const RUNS = Number(process.argv[2] ?? 25);
const WARM_UPS = 3;
const launcher = process.env.IMGCTL_BIN ?? fileURLToPath(import.meta.resolve('../bin/imgctl.js'));
const EXECUTABLE = fileURLToPath(import.meta.resolve('../build/imgctl-linux-x64/imgctl'));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));
mkdirSync(join(folder, 'home'));
const certificate = join(folder, 'certificate.pem');
const environment = {
  PATH: process.env.PATH,
  // A new home, as in a container or for a cron job.
  HOME: join(folder, 'home'),
  NODE_EXTRA_CA_CERTS: certificate,
};

const service = await startService();
try {
  const scripts = writeScripts(service.baseUrl);
  const nodes = [process.execPath, fetchNode('22'), fetchNode('24')];
  const login = ['login', '--base-url', service.baseUrl, '--username', 'bench'];
  checked(process.execPath, [launcher, ...login], { IMGCTL_PASSWORD: 'bench' });
  for (const node of nodes) reportNode(node, scripts);
  reportExecutable();
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

/** Returns CPU times in milliseconds for each command by name. */
function measure(contestants) {
  const times = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]));
  for (let run = -WARM_UPS; run < RUNS; run += 1) {
    for (const [name, command] of Object.entries(contestants)) {
      const milliseconds = cpuTime(command);
      if (run >= 0) times[name].push(milliseconds);
    }
  }
  return times;
}

/** Returns user plus system time of all threads of one run in milliseconds. */
function cpuTime(command) {
  const script = 'TIMEFORMAT="%3U %3S"; time "$@" > /dev/null';
  const { stderr } = run('bash', ['-c', script, 'bash', ...command]);
  const [user, system] = stderr.trim().split('\n').at(-1).split(' ').map(Number);
  return (user + system) * 1_000;
}

function reportNode(node, scripts) {
  const [https, list] = [[scripts.https], [launcher, 'images', 'list', '--json']];
  const samePage = checked(node, https) === checked(node, list);
  if (!samePage) throw new Error('imgctl and the node:https script print different pages');
  const times = measure({
    empty: [node, scripts.empty],
    version: [node, launcher, '--version'],
    completion: [node, launcher, 'completion', 'bash'],
    complete: [node, launcher, '__complete', 'fish', '--', 'images', 'get', ''],
    help: [node, launcher, 'images', 'list', '--help'],
    https: [node, ...https],
    list: [node, ...list],
  });
  print([
    `Node ${checked(node, ['--version']).trim()}, median CPU ms of ${RUNS} runs`,
    row('node, an empty file', times.empty),
    row('imgctl --version', times.version, times.empty, 'an empty file'),
    row('imgctl completion bash', times.completion, times.empty, 'an empty file'),
    row('imgctl __complete', times.complete, times.empty, 'an empty file'),
    row('imgctl images list --help', times.help, times.empty, 'an empty file'),
    row('node:https, one page', times.https, times.empty, 'an empty file'),
    row('imgctl images list --json', times.list, times.https, 'node:https'),
  ]);
}

/** Compares the single executable with gh and openstack. */
function reportExecutable() {
  if (!existsSync(EXECUTABLE)) return print([`no single executable: ${EXECUTABLE} is missing`]);
  const missing = ['gh', 'openstack'].filter((program) => !hasProgram(program));
  if (missing.length > 0) return print([`no single executable: ${missing.join(', ')} missing`]);
  const times = measure({
    gh: ['gh', '--version'],
    version: [EXECUTABLE, '--version'],
    help: [EXECUTABLE, 'images', 'list', '--help'],
    openstack: ['openstack', '--version'],
    list: [EXECUTABLE, 'images', 'list', '--json'],
  });
  print([
    `Single executable, median CPU ms of ${RUNS} runs`,
    row('gh --version', times.gh),
    row('imgctl --version', times.version, times.gh, 'gh --version'),
    row('imgctl images list --help', times.help, times.gh, 'gh --version'),
    row('openstack --version', times.openstack),
    row('imgctl images list --json', times.list, times.openstack, 'openstack --version'),
  ]);
}

function print(lines) {
  process.stdout.write(`${lines.join('\n')}\n\n`);
}

function row(name, times, base, baseName) {
  const cost = median(times);
  const ratio = base ? `  ${(cost / median(base)).toFixed(2)} x ${baseName}` : '';
  return `${name.padEnd(28)}${cost.toFixed(1).padStart(6)}${ratio}`;
}

/** Returns the standard output of a command. @throws Error if it fails */
function checked(command, words, more) {
  return run(command, words, more).stdout;
}

function run(command, words, more = {}) {
  const result = spawnSync(command, words, { encoding: 'utf8', env: { ...environment, ...more } });
  if (result.error) throw result.error;
  if (result.status === 0) return result;
  throw new Error(`${command} ${words.join(' ')} ended with ${result.status}: ${result.stderr}`);
}
