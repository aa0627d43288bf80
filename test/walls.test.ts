// Holds the walls between the parts: who may import whom, and what no source file may do.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = path.join(import.meta.dirname, '..');
const SOURCE = path.join(ROOT, 'src');

/** For each part: the parts it may import. Loose files of src/ are parts of their own. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  'main.ts': ['context.ts', 'errors.ts', 'io.ts', 'output', 'program.ts'],
  'program.ts': ['command-table.ts', 'context.ts', 'errors.ts', 'query', 'session', 'package.json'],
  'command-table.ts': ['commands', 'context.ts'],
  'context.ts': [
    'errors.ts',
    'files',
    'io.ts',
    'messages.ts',
    'output',
    'query',
    'session',
    'package.json',
  ],
  reference: ['commands', 'output', 'query', 'session'],
  library: ['api', 'catalogue.ts', 'errors.ts', 'io.ts', 'query', 'session', 'package.json'],
  'catalogue.ts': ['api', 'query'],
  'messages.ts': ['io.ts', 'output'],
  'errors.ts': [],
  'io.ts': ['errors.ts'],
  commands: [
    'api',
    'catalogue.ts',
    'context.ts',
    'declarations.ts',
    'errors.ts',
    'files',
    'io.ts',
    'output',
    'ovf',
    'query',
    'session',
  ],
  session: ['api', 'errors.ts', 'files', 'io.ts'],
  files: ['api', 'errors.ts', 'io.ts'],
  api: ['errors.ts'],
  query: ['errors.ts'],
  output: ['errors.ts', 'io.ts'],
  ovf: [],
  emulator: ['ovf'],
};

/** What only these files may import besides. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'commands/emulator.ts': ['emulator'],
  'commands/demo.ts': ['emulator'],
};

/** Node's own modules and packages that a part must do without. */
const FORBIDDEN: Readonly<Record<string, RegExp>> = {
  query: /^(node:|undici|conf|chalk|commander)/,
  ovf: /^(node:(net|tls|https?|tty|readline|child_process|process)|undici|conf|chalk|commander)/,
  api: /^(node:(fs|tty|readline|child_process|process)|conf|chalk|commander)/,
  library: /^(node:(fs|tty|readline|child_process|process)|conf|chalk|commander)/,
  output: /^(node:(net|tls|https?|fs|child_process|process)|undici|conf|commander)/,
  emulator: /^(node:(tty|readline|child_process|process)|undici|conf|chalk|commander)/,
};

const files = fs
  .readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/'));

function partOf(file: string): string {
  return file.split('/')[0] ?? '';
}

function importsOf(text: string): string[] {
  return [...text.matchAll(/(?:\bfrom|\bimport\(|^import)\s*'([^']+)'/gm)].map(
    (match) => match[1] ?? '',
  );
}

describe.each(files)('src/%s', (file) => {
  const text = fs.readFileSync(path.join(SOURCE, file), 'utf8');
  const part = partOf(file);

  it('imports only what its part may', () => {
    const wrong = importsOf(text).filter((name) => {
      if (!name.startsWith('.')) return FORBIDDEN[part]?.test(name) ?? false;
      const target = path.posix.join(path.posix.dirname(file), name);
      const targetPart = target.startsWith('..') ? path.posix.basename(target) : partOf(target);
      if (targetPart === part) return false;
      if (part === 'emulator' && target === 'api/types.ts') return false;
      return ![...(ALLOWED[part] ?? []), ...(EXCEPTIONS[file] ?? [])].includes(targetPart);
    });
    expect(wrong).toEqual([]);
  });

  it('says in its first line what it is for, and stays small', () => {
    const lines = text.split('\n');
    expect(lines[0]).toMatch(/^\/\/ \S.*\S$/);
    expect(lines.length).toBeLessThanOrEqual(251);
  });

  it('takes no short cuts', () => {
    expect(text).not.toMatch(/\bany\b(?=\s*[;,)>\]=[])/);
    expect(text).not.toMatch(/@ts-|biome-ignore|process\.exit\(|console\./);
  });
});

it('finds the files that it judges', () => {
  expect(files.length).toBeGreaterThan(50);
  expect(Object.keys(ALLOWED).every((part) => fs.existsSync(path.join(SOURCE, part)))).toBe(true);
});
