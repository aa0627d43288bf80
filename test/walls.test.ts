// Checks the structure of src: imports, no import cycles, no hidden inputs, plain words.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const SOURCE = path.join(ROOT, 'src');

/** What each folder or file of src may import besides itself. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['console.ts', 'context.ts', 'errors.ts', 'io.ts', 'program.ts'],
  'program.ts': ['cli', 'commands', 'context.ts'],
  'context.ts': ['cli', 'console.ts', 'errors.ts', 'files', 'io.ts', 'output', 'query', 'session'],
  'console.ts': ['errors.ts', 'io.ts', 'output'],
  'duration.ts': [],
  'errors.ts': [],
  'json.ts': [],
  'io.ts': ['errors.ts'],
  cli: ['context.ts', 'errors.ts', 'output', 'query', 'session'],
  commands: [
    'api',
    'catalogue',
    'cli',
    'context.ts',
    'duration.ts',
    'errors.ts',
    'files',
    'io.ts',
    'json.ts',
    'mcp',
    'output',
    'ovf',
    'query',
    'session',
    'upload',
  ],
  library: ['api', 'catalogue', 'errors.ts', 'http', 'io.ts', 'query', 'session'],
  catalogue: ['api', 'errors.ts', 'files', 'io.ts', 'json.ts', 'query'],
  session: ['api', 'duration.ts', 'errors.ts', 'files', 'http', 'io.ts', 'json.ts'],
  api: ['duration.ts', 'errors.ts', 'http', 'json.ts'],
  http: ['errors.ts'],
  upload: ['errors.ts', 'files', 'http', 'io.ts', 'json.ts', 'ovf'],
  files: ['errors.ts', 'io.ts', 'json.ts'],
  mcp: ['json.ts', 'output', 'query'],
  query: ['errors.ts', 'json.ts'],
  output: ['errors.ts', 'io.ts', 'json.ts'],
  ovf: [],
  emulator: ['ovf', 'query'],
};

/** Additional imports of single files or folders. */
const EXCEPTIONS: readonly (readonly [file: RegExp, target: RegExp])[] = [
  [/^commands\/(emulator|demo)\.ts$/, /^emulator\//],
  // They look at the connection itself.
  [/^commands\/(api|doctor)\.ts$/, /^http\//],
  [/^emulator\//, /^api\/types\.ts$/],
  [/^upload\//, /^ovf\/xml\.ts$/],
];

/** Modules that a folder must not import. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  query: /^(node:|undici|conf|chalk|ora|cli-table3|commander)/,
  ovf: /^(node:(net|tls|https?|tty|readline|child_process|process)|undici|conf|chalk|ora|cli-table3|commander)/,
  http: /^(node:(fs|tty|readline|child_process|process)|conf|chalk|ora|cli-table3|commander)/,
  api: /^(node:|undici|conf|chalk|ora|cli-table3|commander)/,
  catalogue:
    /^(node:(net|tls|https?|tty|readline|child_process|process)|undici|conf|chalk|ora|cli-table3|commander)/,
  library: /^(node:(fs|tty|readline|child_process|process)|conf|chalk|ora|cli-table3|commander)/,
  output: /^(node:(net|tls|https?|fs|child_process|process)|undici|conf|commander)/,
  emulator:
    /^(node:(tty|readline|child_process|process)|undici|conf|chalk|ora|cli-table3|commander)/,
};

/** What commands load only when they run, since their files are loaded for help and completion too. */
const HEAVY = /^(api\/(client|sync)|http\/(connect|proxies|transport)|(emulator|mcp|ovf|upload)\/)/;

/** The files that may read the process, the clock and the environment. */
const REAL_WORLD = ['main.ts', 'io.ts'];

/** Words of an earlier style; "Style" in CONTRIBUTING.md lists the plain ones. */
const OLD_WORDS =
  'heed|can be had|without a person|handed on|\\bmend|away with|anew|told to end|comes into being|a line each';

/** Identifiers of an earlier vocabulary. */
const OLD_NAMES =
  /\b(NoAnswer|isPassing|isRepeatable|tryOnce|Attempt|TROUBLES|handedOn|isNew|undone|isLive|looksValid|isUnkept|sparingEntry|sparedBy|(LONGEST|LARGEST|MOST|SMALLEST|LEAST)_\w+|hintAt|ReaderGone|Refusal|goesOn|isFateOpen)\b/;

const files = fs
  .readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));

const texts = new Map(
  files.map((file) => [file, fs.readFileSync(path.join(SOURCE, file), 'utf8')]),
);

function importsOf(file: string): string[] {
  const text = texts.get(file) ?? '';
  return [...text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*'([^']+)'/gm)].map((match) => {
    const name = match[1] ?? '';
    return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name;
  });
}

function partOf(file: string): string {
  return file.split('/')[0] ?? '';
}

describe.each(files)('src/%s', (file) => {
  const text = texts.get(file) ?? '';
  const part = partOf(file);

  it('imports only what it may', () => {
    const wrong = importsOf(file).filter((target) => {
      if (target === '../package.json') return false;
      if (!texts.has(target)) return FORBIDDEN[part]?.test(target) ?? false;
      if (partOf(target) === part || ALLOWED[part]?.includes(partOf(target))) return false;
      return !EXCEPTIONS.some(([from, to]) => from.test(file) && to.test(target));
    });
    expect(wrong).toEqual([]);
  });

  it('loads heavy modules only while its command runs', () => {
    if (part !== 'commands' && part !== 'cli') return;
    const statics = [...text.matchAll(/^import (?!type )[^;]+? from '\.\.\/([^']+)';$/gm)];
    expect(statics.filter(([, target = '']) => HEAVY.test(target))).toEqual([]);
  });

  it('takes the process, the clock and randomness from its caller', () => {
    if (REAL_WORLD.includes(file)) return;
    // The marked lines for Node 20 go with it.
    const marked = /^\/\/ Node 20 only, until the line below:.*?^\/\/ ---$/gms;
    const code = text.replace(marked, '').replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    expect(code).not.toMatch(
      /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|performance\.now|Math\.random/,
    );
  });

  it('starts with a comment that says what it is for', () => {
    expect(text).toMatch(/^\/\/ \S.*\S\n/);
  });

  it('avoids any, suppressed checks, process.exit, console.log and old names', () => {
    expect(text).not.toMatch(/\bany\b(?=\s*[;,)>\]=[])/);
    expect(text).not.toMatch(/@ts-|biome-ignore|process\.exit\(|console\.log/);
    expect(text.match(OLD_NAMES)?.[0]).toBeUndefined();
  });
});

it('src has no import cycles', () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) cycles.push([...trail.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    for (const target of importsOf(file)) {
      if (texts.has(target)) visit(target, [...trail, file]);
    }
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(cycles).toEqual([]);
});

it('every folder and file of src has a rule for its imports', () => {
  const parts = new Set(files.map(partOf));
  expect(Object.keys(ALLOWED).sort()).toEqual([...parts].sort());
});

it('the project uses plain words', () => {
  const paths = ['src', 'bin', 'docs', 'man', 'test', 'tools', 'README.md', 'CONTRIBUTING.md'];
  const excluded = [':!test/walls.test.ts', ':!CONTRIBUTING.md'];
  const arguments_ = ['grep', '-inE', OLD_WORDS, '--', ...paths, ...excluded];
  let found = '';
  try {
    found = execFileSync('git', arguments_, { cwd: ROOT, encoding: 'utf8' });
  } catch (error) {
    // Exit code 1 means that nothing was found.
    expect(error).toMatchObject({ status: 1 });
  }
  expect(found).toBe('');
});
