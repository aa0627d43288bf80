// Draws docs/terminal.svg: a short session on a real pseudo terminal, with the emulator.
// Usage: node tools/picture.mjs [FILE]   (default: docs/terminal.svg; needs a build and script of util-linux)
// The picture shows the screen while the push waits for its sync, then the screen at the end. Port, times and the frame
// of the spinner are fixed, because the real ones change with each run.

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COLUMNS = 94;
const BASE_URL = 'http://127.0.0.1:8080';
const COMMANDS = [
  'images latest ubuntu 22.04 server --get path',
  'images list ubuntu 24.04 --sort updated_on,desc --limit 3',
  'push appliance.ova',
  'images list ubuntu --sotr updated_on,desc',
];

/** Styles of text by the escape sequences that begin and end them. */
const STYLES = { 31: 'red', 32: 'green', 36: 'cyan', 2: 'dim', 1: 'bold', 22: '', 39: '' };

const absolute = (path) => fileURLToPath(import.meta.resolve(path));
const launcher = absolute('../bin/imgctl.js');
const folder = mkdtempSync(join(tmpdir(), 'imgctl-picture-'));
const options = ['--port', '0', '--sync-delay', '1900ms', '--until', '2025-07-31', '--sample'];
const emulator = spawn(
  process.execPath,
  [launcher, 'emulator', '-q', '--uploads', folder, ...options],
  { stdio: ['ignore', 'pipe', 'inherit'] },
);
try {
  const [line] = await once(emulator.stdout, 'data');
  const { base_url: baseUrl, upload_url: uploadUrl } = JSON.parse(String(line));
  renameSync(join(folder, 'demo/sample.ova'), join(folder, 'appliance.ova'));
  const env = { HOME: folder, PATH: process.env.PATH, IMGCTL_UPLOAD_PASSWORD: 'demo' };
  Object.assign(env, { TERM: 'xterm', LANG: 'C.UTF-8', TZ: 'UTC', SHELL: '/bin/sh' });
  const password = join(folder, 'password');
  writeFileSync(password, 'demo\n');
  for (const line of [
    `login --base-url ${baseUrl} -u demo --password-file ${password}`,
    `config set upload-url ${uploadUrl}`,
    'config set upload-username demo',
  ]) {
    spawnSync(process.execPath, [launcher, ...line.split(' ')], { env });
  }
  const lines = [];
  let during = [];
  const screen = (output) =>
    output
      .replaceAll(baseUrl, BASE_URL)
      .replace(/20(?!2[0-5])\d\d-\d\d-\d\d \d\d:\d\d/g, '2025-08-01 09:30')
      .replace(/(succeeded in )\d+ s/, '$12 s')
      .replace(/(PENDING )\d+ s/g, '$11 s')
      .replace(/[\u2800-\u28ff]/g, '⠹')
      .trimEnd()
      .split('\n')
      .map(cellsOf);
  for (const command of COMMANDS) {
    const { output, waiting } = await onTerminal(command, env);
    lines.push(cellsOf(`\u001b[1m$ imgctl ${command}\u001b[22m`));
    if (waiting !== undefined) during = [lines.length, screen(waiting)];
    lines.push(...screen(output), []);
  }
  const [count, shown] = during;
  const picture = draw(lines.slice(0, count), shown, lines.slice(count, -1));
  writeFileSync(process.argv[2] ?? absolute('../docs/terminal.svg'), picture);
} finally {
  emulator.kill();
  rmSync(folder, { recursive: true });
}

/** Runs imgctl on a pseudo terminal. @returns what was written, at the end and while it waited for a sync */
async function onTerminal(command, env) {
  const line = `stty cols ${COLUMNS}; exec '${process.execPath}' '${launcher}' ${command}`;
  const script = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
    cwd: folder,
    env,
  });
  let output = '';
  let waiting;
  script.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
    waiting ??= /^.*?PENDING [1-9]\d* s/s.exec(output)?.[0];
  });
  await once(script, 'close');
  return { output, waiting };
}

/** Returns what a line of the terminal shows in the end: its characters, each with its style. */
function cellsOf(line) {
  const cells = [];
  let column = 0;
  let style = '';
  for (const [part, codes, letter] of line.matchAll(/\u001b\[([\d;?]*)([A-Za-z])|[^\u001b]/gu)) {
    if (letter === 'm') style = STYLES[codes];
    else if (letter === 'K') cells.length = column;
    else if (part === '\r' || letter === 'G') column = 0;
    else if (letter === undefined) {
      cells[column] = { character: part, style };
      column += 1;
    }
  }
  return cells;
}

/** Returns the rows as SVG, with selectable text in the colours of the reader's theme; `during` is shown first. */
function draw(common, during, after) {
  // In pixels. The font is the reader's own; the cells of common fonts have at most this width.
  const width = Math.ceil(COLUMNS * 8.43) + 32;
  const height = (common.length + after.length) * 20 + 32;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
  <title id="title">imgctl in a terminal</title>
  <desc id="description">The newest image, a list, a push that waits for its sync, then its result, and a mistyped option with its hint.</desc>
  <style>
    rect { fill: #ffffff; stroke: #d0d7de; }
    text {
      fill: #1f2328;
      font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
      font-size: 14px;
      white-space: pre;
    }
    .during { opacity: 0; animation: during 12s step-end infinite; }
    .after { animation: after 12s step-end infinite; }
    @keyframes during { from { opacity: 1; } 25% { opacity: 0; } }
    @keyframes after { from { opacity: 0; } 25% { opacity: 1; } }
    @media (prefers-reduced-motion: reduce) { .during, .after { animation: none; } }
    .bold { font-weight: bold; }
    .red { fill: #cf222e; } .green { fill: #116329; } .cyan { fill: #0969da; } .dim { fill: #6e7781; }
    @media (prefers-color-scheme: dark) {
      rect { fill: #0d1117; stroke: #30363d; }
      text { fill: #e6edf3; }
      .red { fill: #ff7b72; } .green { fill: #7ee787; } .cyan { fill: #79c0ff; } .dim { fill: #8b949e; }
    }
  </style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${textsOf(common, 0)}<g class="during">
${textsOf(during, common.length)}</g>
<g class="after">
${textsOf(after, common.length)}</g>
</svg>
`;
}

/** Returns a text for each row with characters. */
function textsOf(rows, first) {
  const texts = rows.map((cells, index) => {
    let spans = '';
    for (let at = 0; at < cells.length; ) {
      const { style } = cells[at];
      const end = cells.findIndex((cell, index) => index > at && cell.style !== style);
      const run = cells.slice(at, end < 0 ? undefined : end);
      const text = escapeXml(run.map(({ character }) => character).join(''));
      spans += style === '' ? text : `<tspan class="${style}">${text}</tspan>`;
      at += run.length;
    }
    const y = 16 + (first + index + 0.75) * 20;
    return spans && `  <text x="16" y="${y}" xml:space="preserve">${spans}</text>\n`;
  });
  return texts.join('');
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
