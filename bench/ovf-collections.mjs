// Runs inspect and validate over all OVF and OVA files of some folders, prints what they find, and counts it.
// Usage: node bench/ovf-collections.mjs [--ignore CODE,...] [--invalid PATTERN] FOLDER...
// --ignore leaves codes out, such as missing-file for collections without disks. --invalid is a regular expression
// for the paths of files that should be invalid. IMGCTL_BIN names another build (default: bin/imgctl.js).

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** Fits the length limit of a command line. */
const BATCH = 100;
const program =
  process.env.IMGCTL_BIN ?? fileURLToPath(new URL('../bin/imgctl.js', import.meta.url));
const { values, positionals } = parseArgs({
  options: {
    ignore: { type: 'string', default: '' },
    invalid: { type: 'string', default: '(?!)' },
  },
  allowPositionals: true,
});
const ignored = values.ignore.split(',');
const shouldFail = new RegExp(values.invalid);

const files = positionals.flatMap((folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ov[af]$/i.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name)),
);
files.sort();

const found = { alarms: [], misses: [], unreadable: [] };
const codes = new Map();
print('file', 'version', 'systems', 'disks', 'adapters', 'errors', 'codes');
for (let start = 0; start < files.length; start += BATCH) {
  const batch = files.slice(start, start + BATCH);
  const summaries = new Map(run('inspect', batch).map((summary) => [summary.file, summary]));
  const findings = run('validate', batch);
  for (const file of batch) {
    const own = findings.filter((finding) => finding.file === file);
    show(file, summaries.get(file), own);
  }
}
print();
for (const [code, count] of [...codes].sort(([, a], [, b]) => b - a)) print(count, code);
print();
print(files.length, 'files');
print(found.unreadable.length, 'without a readable descriptor');
print(found.alarms.length, 'invalid, but not matched by --invalid');
print(found.misses.length, 'valid, but matched by --invalid');
for (const file of found.alarms) print('invalid', file);
for (const file of found.misses) print('valid', file);

function run(command, batch) {
  const args = [program, command, '-o', 'ndjson', ...batch];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  });
  if (status !== 0 && status !== 1) throw new Error(`${command} exits with ${status}: ${stderr}`);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

function show(file, summary, findings) {
  const shown = findings.filter(({ code }) => !ignored.includes(code));
  const errors = shown.filter(({ severity }) => severity === 'error');
  const readable = typeof summary?.ovf_version === 'string';
  if (!readable) found.unreadable.push(file);
  if (errors.length > 0 && !shouldFail.test(file)) found.alarms.push(file);
  if (errors.length === 0 && shouldFail.test(file)) found.misses.push(file);
  const names = new Set(
    shown.map(({ code, severity }) => (severity === 'error' ? code : `${code}?`)),
  );
  for (const name of names) codes.set(name, (codes.get(name) ?? 0) + 1);
  const systems = summary?.systems ?? [];
  const count = (kind) => systems.reduce((sum, { hardware }) => sum + hardware[kind].length, 0);
  const hardware = [systems.length, count('disks'), count('networks')];
  const version = readable ? summary.ovf_version : '-';
  print(file, version, ...hardware, errors.length, [...names].join(' '));
}

function print(...cells) {
  process.stdout.write(`${cells.join('\t')}\n`);
}
