// Fake keychain programs and a credential helper for the PATH of a test.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from './io.ts';

export type FakeKeychain = ReturnType<typeof fakeKeychain>;

/** Creates a program that runs a shell script in a folder of its own, which is first in PATH. */
function fakeProgram(name: string, script: string) {
  const directory = temporaryDirectory();
  const file = path.join(directory, name);
  const read = (...names: string[]) => readFileSync(path.join(directory, ...names), 'utf8');
  /** Replaces the program by this script. */
  const replaceBy = (text: string) => {
    writeFileSync(file, `#!/bin/sh\ncd '${directory}'\n${text}\n`, { mode: 0o755 });
  };
  replaceBy(script);
  return { directory, file, PATH: `${directory}:${process.env.PATH}`, read, replaceBy };
}

/** Creates a helper that stores one record per server; it is first in PATH, as docker-credential-fake. */
export function fakeHelper() {
  const { directory, read, ...program } = fakeProgram('docker-credential-fake', HELPER);
  return {
    ...program,
    /** Every call so far: its arguments, stdin and environment in one text. */
    calls: () =>
      readdirSync(directory)
        .filter((name) => /^call-/.test(name))
        .sort()
        .map((name) => read(name)),
    /** The first stored record, as the helper got it. */
    held: (): unknown => {
      const record = readdirSync(directory).find((name) => name.startsWith('record-'));
      return record && JSON.parse(read(record));
    },
  };
}

const HELPER = `
input=$(cat)
printf '%s\\n' "$*" "$input" "$(env)" > "call-$(ls | grep -c ^call-)"
url=$(printf %s "$input" | sed 's/^{"ServerURL":"\\([^"]*\\)".*/\\1/')
record=record-$(printf %s "$url" | cksum | tr ' ' -)
case $1 in
  store) printf %s "$input" > "$record";;
  erase) rm -f "$record";;
  get) cat "$record" 2>/dev/null || { echo 'credentials not found in native keychain'; exit 1; };;
esac`;

/** Creates a fake of secret-tool 0.20, which crashes if nothing is to be cleared, or of macOS's security, and a PATH with the fake first. */
export function fakeKeychain(name: 'secret-tool' | 'security') {
  const script = RECORD + (name === 'security' ? SECURITY : SECRET_TOOL);
  const { directory, read, ...program } = fakeProgram(name, script);
  const entriesOf = (folder: string) => readdirSync(path.join(directory, folder)).sort();
  for (const folder of ['calls', 'held']) mkdirSync(path.join(directory, folder));
  return {
    ...program,
    /** Arguments and environment of every call so far, in order. */
    calls: () => {
      const list = (...file: string[]) =>
        read('calls', ...file)
          .split('\0')
          .slice(0, -1);
      return entriesOf('calls').map((call) => ({
        argv: list(call, 'argv'),
        env: list(call, 'env'),
      }));
    },
    /** The stored secrets by their attributes, one attribute per line. */
    held: (): Readonly<Record<string, string>> => {
      const pairs = entriesOf('held').map((item) =>
        ['key', 'secret'].map((part) => read('held', item, part)),
      );
      return Object.fromEntries(pairs);
    },
  };
}

/** Records arguments and environment, and defines shared shell functions. */
const RECORD = `
set -- $(ls calls | wc -l) "$@"
call=calls/$(printf %04d "$1"); shift
mkdir "$call"; printf '%s\\0' "$@" > "$call/argv"; env -0 > "$call/env"

# The first item whose key begins with these lines.
find_item() {
  for item in held/*; do
    case "$(cat "$item/key" 2>&1)
" in "$1
"*) return 0;; esac
  done
  return 1
}
# keep <key>, with the secret on stdin
keep() {
  item=held/$(printf %s "$1" | cksum | tr ' ' -)
  mkdir -p "$item"; printf %s "$1" > "$item/key"; cat > "$item/secret"
}
`;

const SECRET_TOOL = `
action=$1
while [ "$1" != -- ]; do shift; done
shift
key=$(printf '%s\\n' "$@")
case $action in
  store) keep "$key";;
  lookup) find_item "$key" && cat "$item/secret";;
  clear) find_item "$key" || kill -SEGV $$; while find_item "$key"; do rm -r "$item"; done;;
esac`;

const SECURITY = `
[ "$1" != -i ] || eval "set -- $(cat)"
action=$1
while [ $# -gt 0 ]; do
  case $1 in -s) key=$2;; -a) key="$key
$2";; -w) secret=$2;; esac
  shift
done
if [ "$action" = add-generic-password ]; then printf %s "$secret" | keep "$key"; exit; fi
if ! find_item "$key"; then echo 'security: it could not be found in the keychain.' >&2; exit 44; fi
case $action in
  find-generic-password) cat "$item/secret"; echo;;
  delete-generic-password) rm -r "$item";;
esac`;
