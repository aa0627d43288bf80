// Stand-ins for the system's own keychain programs, first in a PATH of the test's own.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from './io.ts';

export interface KeychainCall {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
}

export interface FakeKeychain {
  /** The PATH that finds it. */
  readonly PATH: string;
  /** Every call so far, in order. */
  calls(): KeychainCall[];
  /** What it holds, by the attributes as the program was given them. */
  held(): Readonly<Record<string, string>>;
  /** What each call does from now on instead: a line of the shell. */
  replaceBy(script: string): void;
}

/** As the programs of these names behave: secret-tool 0.20, and security of macOS 14. */
export function fakeKeychain(name: 'secret-tool' | 'security'): FakeKeychain {
  const directory = temporaryDirectory();
  const log = path.join(directory, 'calls');
  const store = path.join(directory, 'store.json');
  const program = path.join(directory, name);
  writeFileSync(log, '');
  writeFileSync(store, '{}');
  const write = (text: string) => writeFileSync(program, text, { mode: 0o755 });
  write(`#!${process.execPath}
const fs = require('node:fs');
const argv = process.argv.slice(2);
const stdin = argv[0] === 'store' || argv[0] === '-i' ? fs.readFileSync(0, 'utf8') : '';
fs.appendFileSync(${JSON.stringify(log)}, JSON.stringify({ argv, env: process.env, stdin }) + '\\n');
const held = JSON.parse(fs.readFileSync(${JSON.stringify(store)}, 'utf8'));
const keep = () => fs.writeFileSync(${JSON.stringify(store)}, JSON.stringify(held));
(${name === 'security' ? security : secretTool})(argv, stdin, held, keep);
`);
  const read = (file: string) => readFileSync(file, 'utf8');
  return {
    PATH: `${directory}${path.delimiter}${process.env.PATH}`,
    calls: () =>
      read(log)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    held: () => JSON.parse(read(store)),
    replaceBy: (script) => write(`#!/bin/sh\n${script}\n`),
  };
}

type Behaviour = (
  argv: string[],
  stdin: string,
  held: Record<string, string>,
  keep: () => void,
) => void;

const secretTool: Behaviour = (argv, stdin, held, keep) => {
  const action = argv[0];
  const pairs = argv.slice(argv.indexOf('--') + 1).join('\n');
  const found = Object.keys(held).filter((key) => key === pairs || key.startsWith(`${pairs}\n`));
  if (action === 'store') held[pairs] = stdin;
  else if (found.length === 0) process.exitCode = 1;
  else if (action === 'lookup') process.stdout.write(held[found[0] ?? ''] ?? '');
  else if (action === 'clear') for (const key of found) delete held[key];
  keep();
};

const security: Behaviour = (argv, stdin, held, keep) => {
  const words =
    argv[0] === '-i'
      ? (stdin.trim().match(/(?:\\.|[^\\\s])+/g) ?? []).map((word) => word.replace(/\\(.)/g, '$1'))
      : argv;
  const [action] = words;
  const after = (option: string) => words[words.indexOf(option) + 1] ?? '';
  const key = `${after('-s')}\n${after('-a')}`;
  const found = Object.keys(held).find((known) =>
    words.includes('-a') ? known === key : known.startsWith(`${after('-s')}\n`),
  );
  if (action === 'add-generic-password') held[key] = after('-w');
  else if (found === undefined) {
    process.stderr.write('security: The specified item could not be found in the keychain.\n');
    process.exitCode = 44;
  } else if (action === 'find-generic-password') process.stdout.write(`${held[found]}\n`);
  else if (action === 'delete-generic-password') delete held[found];
  keep();
};
