// Breaks src in one place after another, in a copy, and fails if the named test does not notice.
// Usage: node tools/mutants.mjs [--short] [--check] [TEXT]
// --short: those of .ci/run; --check: only looks for their texts in src; TEXT: those whose file has it

import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LONG, SHORT } from './mutants/list.mjs';

const ROOT = fileURLToPath(import.meta.resolve('../'));
const AT_ONCE = 2;
/** For each test file. */
const TIME_LIMIT = 120_000;

const words = process.argv.slice(2);
const all = words.includes('--short') ? SHORT : [...SHORT, ...LONG];
const [part = ''] = words.filter((word) => !word.startsWith('--'));
const mutants = all.filter(([file]) => file.includes(part));
const started = Date.now();
const faults = mutants.flatMap(([file, text, , test]) => {
  if (!existsSync(join(ROOT, test))) return [`${test} does not exist`];
  const count = readFileSync(join(ROOT, file), 'utf8').split(text).length - 1;
  return count === 1 ? [] : [`${file} has this text ${count} times instead of once: ${text}`];
});
const isRun = faults.length === 0 && !words.includes('--check');
const copies = Array.from({ length: isRun ? AT_ONCE : 0 }, copyTree);
try {
  if (isRun) await checkTests();
  if (isRun && faults.length === 0) {
    const queue = [...mutants];
    await Promise.all(copies.map(breakInTurn.bind(undefined, queue)));
  }
} finally {
  for (const copy of copies) rmSync(copy, { recursive: true });
}
const seconds = Math.round((Date.now() - started) / 1_000);
if (faults.length > 0) process.exitCode = 1;
const success = `all ${mutants.length} breakages were ${isRun ? 'noticed' : 'found'}`;
const verdict = faults.length === 0 ? success : 'failed:';
console.log([`${verdict} (${seconds} s)`, ...faults].join('\n'));

/** The tests must pass without a breakage, else their failure says nothing. */
async function checkTests() {
  const tests = [...new Set(mutants.map(([, , , test]) => test))];
  const { isPassed, output } = await run(copies[0], tests);
  if (!isPassed) faults.push(`these tests fail without a breakage:\n${output}`);
}

async function breakInTurn(queue, copy) {
  for (let mutant = queue.shift(); mutant; mutant = queue.shift()) {
    const [file, text, replacement, test] = mutant;
    const place = join(copy, file);
    const code = readFileSync(place, 'utf8');
    writeFileSync(
      place,
      code.replace(text, () => replacement),
    );
    const { isPassed } = await run(copy, [test]);
    writeFileSync(place, code);
    const what = `${file}: ${text} -> ${replacement || 'nothing'}`;
    console.log(`${isPassed ? 'SURVIVED' : 'noticed '} ${what}`);
    if (isPassed) faults.push(`${what} breaks nothing in ${test}`);
  }
}

/** Runs unit tests in a copy. A test that hangs has noticed. */
async function run(copy, tests) {
  const options = ['--project', 'unit', '--bail', '1', '--maxWorkers', '1'];
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...options, ...tests];
  const child = spawn(process.execPath, args, { cwd: copy, timeout: TIME_LIMIT * tests.length });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  const code = await new Promise((resolve) => child.on('close', resolve));
  return { isPassed: code === 0, output };
}

function copyTree() {
  const copy = mkdtempSync(join(tmpdir(), 'imgctl-mutants-'));
  for (const name of ['src', 'test', 'docs', 'package.json', 'tsconfig.json', 'vitest.config.mts'])
    cpSync(join(ROOT, name), join(copy, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'), 'dir');
  return copy;
}
