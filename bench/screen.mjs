// Measures when the rows of a table of 10,000 images arrive on a pseudo terminal, after the last page was sent.
// Usage: node bench/screen.mjs [program]   (default: bin/imgctl.js, which needs a build)
// Needs `script` of util-linux.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from './measure.mjs';

const program = process.argv[2] ?? fileURLToPath(new URL('../bin/imgctl.js', import.meta.url));
const RUNS = 7;
const IMAGES = 10_000;
const PER_PAGE = 100;
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));

const pages = Array.from({ length: IMAGES / PER_PAGE }, (_, page) => pageOf(page));
let lastSent = 0;
const server = http.createServer((request, response) => {
  const url = new URL(request.url, 'http://localhost');
  response.setHeader('content-type', 'application/json');
  response.end(pages[Number(url.searchParams.get('page') ?? 1) - 1]);
  response.once('finish', () => {
    lastSent = performance.now();
  });
});
await once(server.listen(0, '127.0.0.1'), 'listening');

try {
  for (const columns of [80, 160]) {
    const runs = [];
    // The first run is a warm-up.
    for (let run = 0; run <= RUNS; run += 1) runs.push(await measure(columns));
    const figure = (name) => `${Math.round(median(runs.slice(1).map((times) => times[name])))} ms`;
    process.stdout.write(`${IMAGES} images on ${columns} columns, after the last page:\n`);
    process.stdout.write(`  first row ${figure('first')} (at most 300 ms)\n`);
    process.stdout.write(`  last row  ${figure('last')}\n`);
    process.stdout.write(`from start to end ${figure('whole')} (at most 2000 ms)\n`);
  }
} finally {
  server.close();
  rmSync(folder, { recursive: true });
}

async function measure(columns) {
  const command = `stty cols ${columns} rows 24; exec "${process.execPath}" "${program}" images list`;
  const { port } = server.address();
  const start = performance.now();
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    env: {
      PATH: process.env.PATH,
      SHELL: '/bin/sh',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      IMGCTL_BASE_URL: `http://127.0.0.1:${port}`,
      IMGCTL_TOKEN: 'T',
      IMGCTL_CONFIG_DIR: folder,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  let first;
  let last;
  child.stdout.setEncoding('utf8').on('data', (text) => {
    screen = screen.slice(-200) + text;
    // The spinner holds no name.
    if (first === undefined && screen.includes('.ova')) first = performance.now();
    if (text.includes('.ova')) last = performance.now();
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`imgctl ended with ${code}: ${screen}`);
  return { first: first - lastSent, last: last - lastSent, whole: performance.now() - start };
}

function pageOf(page) {
  const data = Array.from({ length: PER_PAGE }, (_, index) => {
    const id = 1001 + page * PER_PAGE + index;
    const name = `ubuntu-${16 + (id % 9)}.04-server-cloudimg-amd64-${20_160_000 + id}.ova`;
    return {
      id,
      name,
      path: `[images-0${id % 3}] ubuntu/${name}`,
      label: `ubuntu/${name}`,
      folder: ['ubuntu', 'canonical'][id % 2],
      data_store: `images-0${id % 3}`,
      public: true,
      created_on: '2018-07-18 Wed 15:36:49 EDT',
      updated_on: `2018-07-18 Wed 15:${10 + (id % 50)}:49 EDT`,
    };
  });
  const count = IMAGES / PER_PAGE;
  const urlOf = (number) => `/v2/image?page=${number}`;
  return JSON.stringify({
    data,
    meta: {
      count: PER_PAGE,
      pages: {
        page: page + 1,
        pages: count,
        per_page: PER_PAGE,
        total: IMAGES,
        first_url: urlOf(1),
        last_url: urlOf(count),
        prev_url: page === 0 ? null : urlOf(page),
        next_url: page + 1 === count ? null : urlOf(page + 2),
      },
      sort: 'id,asc',
    },
  });
}
