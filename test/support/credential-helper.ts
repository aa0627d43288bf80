// A scripted credential helper for the PATH of a test.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from './io.ts';

interface FakeHelper {
  /** A PATH with the helper first, as docker-credential-fake. */
  readonly PATH: string;
  readonly file: string;
  /** Every call so far: its arguments, stdin and environment in one text. */
  calls(): string[];
  /** The stored record, as the helper got it. */
  held(): unknown;
  /** Replaces the helper by this shell script. */
  replaceBy(script: string): void;
}

/** Creates a helper that stores one record, whatever the server. */
export function fakeHelper(): FakeHelper {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'docker-credential-fake');
  const record = path.join(directory, 'record');
  const replaceBy = (script: string) => {
    writeFileSync(file, `#!/bin/sh\ncd '${directory}'\n${script}\n`, { mode: 0o755 });
  };
  replaceBy(`input=$(cat)
    printf '%s\\n' "$*" "$input" "$(env)" > "call-$(ls | grep -c ^call-)"
    case $1 in
      store) printf %s "$input" > record;;
      erase) rm -f record;;
      get) cat record 2>/dev/null || { echo 'credentials not found in native keychain'; exit 1; };;
    esac`);
  const calls = () => readdirSync(directory).filter((name) => name.startsWith('call-'));
  return {
    PATH: `${directory}${path.delimiter}${process.env.PATH}`,
    file,
    calls: () =>
      calls()
        .sort()
        .map((name) => readFileSync(path.join(directory, name), 'utf8')),
    held: () => (existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : undefined),
    replaceBy,
  };
}
