// A scripted credential helper for the PATH of a test.

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from './io.ts';

/** Creates a helper that stores one record, whatever the server; it is first in PATH, as docker-credential-fake. */
export function fakeHelper() {
  const directory = temporaryDirectory();
  const file = path.join(directory, 'docker-credential-fake');
  const record = path.join(directory, 'record');
  /** Replaces the helper by this shell script. */
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
  const read = (name: string) => readFileSync(path.join(directory, name), 'utf8');
  return {
    PATH: `${directory}${path.delimiter}${process.env.PATH}`,
    file,
    /** Every call so far: its arguments, stdin and environment in one text. */
    calls: () =>
      readdirSync(directory)
        .filter((name) => /^call-/.test(name))
        .sort()
        .map(read),
    /** The stored record, as the helper got it. */
    held: (): unknown =>
      existsSync(record) ? JSON.parse(readFileSync(record, 'utf8')) : undefined,
    replaceBy,
  };
}
