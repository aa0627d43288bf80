// Draws docs/terminal.svg: a short session of the built program with the embedded service.
// Usage: node tools/picture.mjs [FILE]   (default: docs/terminal.svg)
// The picture shows a fixed port and a fixed time of the sync, because the real ones change with each run.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeAppliance } from './appliance.mjs';
import { drawTerminal } from './picture/svg.mjs';

const COLUMNS = 94;
const PROMPT = '\u001b[32m$\u001b[39m';
const ERASED = /[^\n]*\r\u001b\[K/g;
const PASSWORD = 'demo';
const BASE_URL = 'http://127.0.0.1:8080';
const TIME = '2025-08-01 09:30';
// Of a sync: its times, and how long it took.
const TIMES = /(?<=_on(?:\u001b\[\d+m)? {2}(?:\u001b\[\d+m)?)\d{4}-\d\d-\d\d \d\d:\d\d/g;
const DURATION = /(?<=succeeded in )\d+ s/;
const COMMANDS = [
  `login --base-url ${BASE_URL} -u demo`,
  'images list ubuntu --sotr updated_on,desc',
  'images list ubuntu --sort updated_on,desc --limit 5',
  'sync --wait',
];
const WORDS = {
  title: 'imgctl in a terminal',
  description:
    'A login, a mistyped option with its suggestion, the newest images, and a sync that succeeds.',
};

const absolute = (path) => fileURLToPath(new URL(path, import.meta.url));
const launcher = absolute('../bin/imgctl.js');
const picture = process.argv[2] ?? absolute('../docs/terminal.svg');
const folder = mkdtempSync(join(tmpdir(), 'imgctl-picture-'));
let emulator;
try {
  writeAppliance(join(folder, 'uploads', 'demo'));
  const baseUrl = await startEmulator();
  const lines = [`${PROMPT} export IMGCTL_PASSWORD=${PASSWORD}`];
  for (const command of COMMANDS) {
    lines.push(`${PROMPT} imgctl ${command}`, ...linesOf(command, baseUrl), '');
  }
  writeFileSync(picture, drawTerminal(lines.slice(0, -1), { columns: COLUMNS, ...WORDS }));
} finally {
  emulator?.kill();
  rmSync(folder, { recursive: true });
}

async function startEmulator() {
  const uploads = join(folder, 'uploads');
  // Pending at the first check of the status, at once, and processed at the second, after 2 s.
  const options = ['--port', '0', '--sync-delay', '1900ms', '--until', '2025-07-31'];
  emulator = spawn(
    process.execPath,
    [launcher, 'emulator', '-q', ...options, '--uploads', uploads],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [line] = await once(emulator.stdout, 'data');
  return JSON.parse(String(line)).base_url;
}

/** Returns the lines that a terminal shows after the command. */
function linesOf(command, baseUrl) {
  const output = join(folder, 'output');
  const file = openSync(output, 'w');
  const words = command.replace(BASE_URL, baseUrl).split(' ');
  spawnSync(process.execPath, ['--require', absolute('picture/terminal.cjs'), launcher, ...words], {
    stdio: ['ignore', file, file],
    env: { HOME: folder, TZ: 'UTC', COLUMNS: String(COLUMNS), IMGCTL_PASSWORD: PASSWORD },
  });
  closeSync(file);
  return readFileSync(output, 'utf8')
    .replaceAll(baseUrl, BASE_URL)
    .replaceAll(TIMES, TIME)
    .replace(DURATION, '4 s')
    .replaceAll(ERASED, '')
    .replace(/\s+$/, '')
    .split('\n');
}
