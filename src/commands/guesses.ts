// Hints for commands and options that other tools have and imgctl calls something else.

import { shellQuote } from '../output/messages.ts';

/** What was typed after imgctl, and the command to use instead. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['list', 'images list'],
  ['ls', 'images list'],
  ['search', 'images list TEXT'],
  ['find', 'images list TEXT'],
  ['get', 'images get'],
  ['show', 'images get'],
  ['describe', 'images get'],
  ['status', 'sync-status'],
  ['sync status', 'sync-status'],
  ['sync list', 'sync-status --list'],
  ['sync wait', 'sync --wait'],
  ['upload', 'push FILE'],
  ['auth', 'login'],
  ['auth login', 'login'],
  ['auth logout', 'logout'],
  ['auth status', 'whoami'],
  ['auth token', 'token'],
  ['init', 'login'],
  ['configure', 'login'],
  ['setup', 'login'],
  ['signin', 'login'],
  ['check', 'validate'],
  ['settings', 'config'],
  ['completions', 'completion'],
  ['images search', 'images list TEXT'],
  ['images find', 'images list TEXT'],
  ['images show', 'images get'],
  ['images describe', 'images get'],
  ['images mine', 'my-images'],
  ['my images', 'my-images'],
  ['config show', 'config list'],
  ['config view', 'config list'],
  ['profile create', 'login --profile NAME'],
  ['profile add', 'login --profile NAME'],
  ['profile switch', 'profile use'],
  ['profile remove', 'profile delete'],
]);

const UPGRADE = 'upgrade it in the folder of its clone: git pull && npm ci && npm run build';

/** What other programs do. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['upgrade', UPGRADE],
  ['update', UPGRADE],
  ['uninstall', 'run: npm uninstall --global imgctl'],
]);

const PIPE_TO_JQ = 'pipe JSON to jq: imgctl images list --json | jq';
const NO_SECRETS = 'no option takes a secret; use --password-stdin or IMGCTL_PASSWORD';
const TLS = 'certificates are always verified; trust another: imgctl config set ca-file FILE';
const REPLACE = 'use --on-conflict replace';
const UPLOAD_URL = 'set where to upload: imgctl config set upload-url URL';
const WORDS = 'list images whose name contains a text: imgctl images list TEXT';

/** Options of other tools, of one command or of all, and what to do instead. */
const OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--all', 'omit it: every image is listed unless you use --limit'],
  ['--format', 'use -o FORMAT, such as -o json'],
  ['--csv', 'use -o csv'],
  ['--yaml', 'use -o yaml'],
  ['--jq', PIPE_TO_JQ],
  ['--template', PIPE_TO_JQ],
  ['--insecure', TLS],
  ['-k', TLS],
  ['--name', WORDS],
  ['--search', WORDS],
  ['--query', WORDS],
  ['--order', 'use --sort FIELD,desc'],
  ['--order-by', 'use --sort FIELD,desc'],
  ['--sort-by', 'use --sort FIELD,desc'],
  ['--fields', 'use --columns a,b'],
  ['--page-size', 'use --per-page N'],
  ['--max', 'use --limit N'],
  ['--follow', 'use --wait'],
  ['--watch', 'use --wait'],
  ['-w', 'use --wait'],
  ['--user', 'use --username NAME'],
  ['--password', NO_SECRETS],
  ['--token', 'no option takes a secret; use IMGCTL_TOKEN'],
  ['-p', NO_SECRETS],
  ['--url', 'use --base-url URL'],
  ['--host', 'use --base-url URL'],
  ['--server', 'use --base-url URL'],
  ['--endpoint', 'use --base-url URL'],
  ['--verbose', 'use --debug'],
  ['-v', 'use --debug, or -V for the version'],
  ['--silent', 'use --quiet'],
  ['push --wait', 'omit it: push waits for the sync unless you use --no-wait'],
  ['push --replace', REPLACE],
  ['push --overwrite', REPLACE],
  ['push --url', UPLOAD_URL],
  ['push --to', UPLOAD_URL],
]);

/** Returns a hint for the words that were typed after imgctl; longer guesses go first. */
export function guessCommand(words: readonly string[]): string | undefined {
  for (let count = words.length; count > 0; count -= 1) {
    const command = COMMANDS.get(words.slice(0, count).join(' '));
    if (command !== undefined) return `use: imgctl ${command}`;
  }
  return ELSEWHERE.get(words[0] ?? '');
}

/** Returns a hint for a word after the name of a group that resembles none of its commands. */
export function guessInGroup(group: string): string | undefined {
  return group === 'images' ? 'use: imgctl images list TEXT, or imgctl images get ID' : undefined;
}

/** Returns a hint for arguments of a command that takes fewer of them. */
export function guessArguments(command: string, words: readonly string[]): string | undefined {
  const last = words.at(-1) ?? '';
  if (command.startsWith('sync') && /^\d+(ms|[smhdw])$/.test(last)) {
    return `use: imgctl ${[command, ...words.slice(0, -1)].join(' ')} --wait-timeout ${last}`;
  }
  const arePackages = words.every((word) => /\.(ova|ovf)$/i.test(word));
  if (command !== 'sync' || !arePackages) return undefined;
  return `use: imgctl push ${words.map(shellQuote).join(' ')}`;
}

export function guessOption(command: string, option: string): string | undefined {
  return OPTIONS.get(`${command} ${option}`) ?? OPTIONS.get(option);
}

/** Every suggested command line, for the test that they exist. */
export const GUESSED_COMMANDS: readonly string[] = [...COMMANDS.values()];
