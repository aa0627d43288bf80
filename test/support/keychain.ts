// Fake keychain programs for the PATH of a test.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from './io.ts';

export type FakeKeychain = ReturnType<typeof fakeKeychain>;

/** Creates a fake of secret-tool 0.20 or of macOS's security, and a PATH with the fake first. */
export function fakeKeychain(name: 'secret-tool' | 'security') {
  const directory = temporaryDirectory();
  const calls = path.join(directory, 'calls');
  const held = path.join(directory, 'held');
  for (const folder of [calls, held]) mkdirSync(folder);
  const write = (text: string) => {
    writeFileSync(path.join(directory, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  write(`cd '${directory}'${RECORD}${name === 'security' ? SECURITY : SECRET_TOOL}`);
  const read = (...names: string[]) => readFileSync(path.join(...names), 'utf8');
  return {
    PATH: `${directory}${path.delimiter}${process.env.PATH}`,
    /** Arguments and environment of every call so far, in order. */
    calls: () => {
      const names = readdirSync(calls).sort();
      const list = (...file: string[]) =>
        read(calls, ...file)
          .split('\0')
          .slice(0, -1);
      return names.map((call) => ({ argv: list(call, 'argv'), env: list(call, 'env') }));
    },
    /** The stored secrets by their attributes, one attribute per line. */
    held: (): Readonly<Record<string, string>> => {
      const pairs = readdirSync(held).map((item) =>
        ['key', 'secret'].map((part) => read(held, item, part)),
      );
      return Object.fromEntries(pairs);
    },
    /** Replaces the fake by this shell script. */
    replaceBy: write,
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
  clear) find_item "$key" || exit; while find_item "$key"; do rm -r "$item"; done;;
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
