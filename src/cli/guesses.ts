// Guesses what people meant who know other programs, such as hcloud, gh, aws and rclone.

import { type Advice, hint, imgctl } from '../facts.ts';
import { findOption, type OptionDeclaration } from './command-types.ts';
import type { TypedWord, UnknownOption } from './typed.ts';

/** Receives the words behind a phrase; none if a hint may not repeat one of them. */
type Guess = Advice | ((words: readonly string[]) => Advice | undefined);

/**
 * Guesses what words mean that are no command, or too many. The first two words behind the path
 * are tried, then one, then the path alone: `get image web.ova` is `get image` with a word.
 */
export function guess(
  path: readonly string[],
  typed: readonly Pick<TypedWord, 'text' | 'mayShow'>[],
): Advice | undefined {
  for (const count of [2, 1, 0]) {
    const phrase = typed.slice(0, count).map(({ text }) => text);
    const words = wordsToShow(typed.slice(count));
    const advice =
      adviceFor([...path, ...phrase].join(' '), words) ??
      (path.join() === 'images' ? adviceFor(phrase.join(' '), words) : undefined);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** Guesses what an option means that the command does not have. */
export function guessOption(
  flag: string,
  value: TypedWord | undefined,
  { path, options }: UnknownOption,
): Advice | undefined {
  const words = wordsToShow(value ? [value] : []);
  const advice = adviceFor([...path, flag].join(' '), words) ?? adviceFor(flag, words);
  if (advice !== undefined) return advice;
  const [meant, otherwise] = findRow(RENAMED, flag) ?? [''];
  const option = findOption(options, meant);
  return option && (otherwise ?? `use ${withValue(option, meant, value).join(' ')}`);
}

function wordsToShow(words: readonly Pick<TypedWord, 'text' | 'mayShow'>[]): readonly string[] {
  return words.every(({ mayShow }) => mayShow) ? words.map(({ text }) => text) : [];
}

function adviceFor(phrase: string, words: readonly string[]): Advice | undefined {
  const found = findRow(GUESSES, phrase);
  return typeof found === 'function' ? found(words) : found;
}

/** Returns the row whose phrases, such as `list, ls, search`, have this one. */
function findRow<Row>(table: Readonly<Record<string, Row>>, phrase: string): Row | undefined {
  const [, row] = Object.entries(table).find(([all]) => all.split(', ').includes(phrase)) ?? [];
  return row;
}

/**
 * Returns the words `--limit 5`, or `--wait` for an option without a value. A value is shown only
 * if it is a number, or a word that the option knows; else the words are `--limit N`.
 */
export function withValue(
  { flags, value }: OptionDeclaration,
  flag: string,
  typed: TypedWord | undefined,
): readonly string[] {
  if (value === undefined) return [flag];
  const { words = [], listed = [], suggested = [] } = value;
  const text = typed?.text ?? '';
  const isKnown = /^\d+$/.test(text) || [...words, ...listed, ...suggested].includes(text);
  const [, placeholder = 'VALUE'] = /<(.+)>/.exec(flags) ?? [];
  return [flag, isKnown ? text : placeholder.toUpperCase()];
}

const use = (...words: readonly string[]) => hint`use: ${imgctl(...words)}`;

/** Puts the words that were typed behind the command, or a placeholder if there are none. */
const useAll =
  (command: string, ...placeholder: readonly string[]): Guess =>
  (words) =>
    use(...command.split(' '), ...(words.length > 0 ? words : placeholder));

/** Puts one word behind the command, which takes no more. */
const useOne =
  (command: string, placeholder: string): Guess =>
  ([word = placeholder]) =>
    use(...command.split(' '), word);

const filesIn = (words: readonly string[]): readonly string[] => {
  const files = words.filter((word) => word.includes('.'));
  return files.length > 0 ? files : ['FILE'];
};

const CANNOT_DELETE = hint`public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: ${imgctl('sync')}`;

const cannotChange: Guess = (words) =>
  hint`images cannot be changed; upload a new file with: ${imgctl('push', ...filesIn(words), '--on-conflict', 'replace')}`;

const usePush: Guess = (words) => use('push', ...filesIn(words));

/**
 * Commands and options, alone or behind a command. No phrase has two rows. A verb alone counts
 * behind `images` too: `list` is also `images list`. `setting KEY` is a key that is no setting.
 */
export const GUESSES: Readonly<Record<string, Guess>> = {
  // Images
  'list, ls, search, find, list images, get images, images list --name, images list --search, images list --os, images list --grep':
    useAll('images list'),
  'get, describe, show, view, get image, show image, describe image': useAll('images get', 'ID'),
  'images inspect, images diff, images compare': useAll('images get', 'ID'),
  'mine, my images, my-images --name, images list --private, images list --own':
    useAll('my-images'),
  'latest, newest, images list --latest, images list --newest, images latest --name, images latest --os':
    useAll('images latest'),
  count: (words) => hint`${use('images', 'list', '-q', ...words)} | wc -l`,
  'images latest --id': 'use --get id',
  'images list --count': 'use -q, and pipe it to wc -l',
  'changes, diff, watch, images log, images list --watch': useAll('images changes'),
  'images changes --since': useOne('images list --since', 'TIME'),
  'snapshot, export, save, backup': (words) =>
    use('images', 'snapshot', filesIn(words)[0] ?? 'FILE'),
  'delete, remove, rm, rmi, destroy, prune, delete image': CANNOT_DELETE,
  'edit, rename, mv, tag, update image, images update': cannotChange,
  'lock, lock add, pin, hold': useAll('images lock add', 'NAME'),
  'unlock, lock remove, lock rm, unpin, unhold': useOne('images lock remove', 'NAME'),
  'locks, list locks, get locks, lock list, lock ls': use('images', 'lock', 'list'),
  'lock check, lock status': useAll('images lock check'),
  'lock update': useAll('images lock update'),

  // Packages and sync requests
  'upload, add, create, import, put, push, cp, copy, scp, rsync, upload image, create image':
    usePush,
  'check, verify, test': (words) =>
    hint`${use('validate', ...filesIn(words))}, or for the setup: ${imgctl('doctor')}`,
  'wait, sync wait, sync watch': useAll('sync-status --wait'),
  'status, sync status, sync show, sync get, get sync, show sync': useAll('sync-status'),
  sync: ([id = '']) => (/^\d+$/.test(id) ? use('sync-status', id) : undefined),
  'history, log, logs, jobs, tasks, sync list, sync ls, sync history': use('sync-status', '--list'),
  'cancel, sync cancel, sync stop': 'a sync request cannot be cancelled',

  // Login, profiles and settings
  'auth login, sso login, token refresh, token renew': use('login'),
  'auth logout, sso logout': use('logout'),
  'auth token': use('token'),
  'auth, auth status, me, info, account, profile current, profile active, profile show':
    use('whoami'),
  login: hint`${use('login', '--username', 'USER')}, or with --base-url URL`,
  'configure, init, setup': hint`${use('login')}, or ${imgctl('config', 'set', 'KEY', 'VALUE')}`,
  'settings, configure list, config -l, get config, show config': use('config', 'list'),
  'config list': useOne('config get', 'KEY'),
  'config edit, config --edit, config -e, profile rename': hint`edit the file that this command prints: ${imgctl('config', 'path')}`,
  'context, contexts, context list, auth list, list profiles, get profiles': use('profile', 'list'),
  'use, switch, context use, auth switch, profile set': useOne('profile use', 'NAME'),
  'context delete, delete profile': useOne('profile delete', 'NAME'),
  'context create, profile add, profile create, profile new': useOne('login --profile', 'NAME'),
  'env, environment, --proxy, --token, --with-token, --password, --pass, login -p, setting proxy, setting token, setting password': hint`set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: ${imgctl('help', 'environment')}`,

  // Other commands
  'upgrade, update': 'upgrade it the way you installed it: see the README',
  'download, pull, install, server, servers, vm, instance, instances, deploy, run, start, boot':
    'the service itself deploys images; imgctl lists, checks and uploads them, and downloads none',
  'curl, request, api get, api GET': useAll('api', '/v2'),
  'completion -s, completion --shell': useOne('completion', 'SHELL'),

  // Options
  '-y, --yes, --no-input, --no-pager, --headers, images list --public, images list -i, push --wait, sync --no-wait':
    'omit it: it is the default',
  '--jq, --query, --template, images changes --get, images changes --columns, images changes -c':
    'use --json, and pipe it to jq',
  '--verbose, -v, --trace, --silent':
    'use --debug to trace requests, -q for less output, or -V for the version',
  '--no-color': 'use --color never',
  'images get --url, images latest --url': hint`use --get path, or list URLs with: ${imgctl('images', 'list', '--urls')}`,
  'push -r, push --recursive, push --delete, push --mirror, validate -r, inspect -r':
    'name the files, such as *.ova; push deletes none',
  '--insecure, -k, --no-verify-ssl, --no-check-certificate, --cacert, --ca-cert, --ca-bundle': hint`certificates are always verified; to trust a private authority: ${imgctl('config', 'set', 'ca-file', 'FILE')}`,
};

/**
 * Options that have another name here. A row counts only for a command that has the second option;
 * its advice is to use that option, unless the row has another one.
 */
export const RENAMED: Readonly<Record<string, readonly [option: string, advice?: Advice]>> = {
  '--max-items, --max-results, --max, --head, --top, --tail': ['--limit'],
  '--all, -a, -A, --no-paginate': ['--limit', 'all images are listed; for fewer, use -n 100'],
  '--page-size, --pagesize': ['--per-page'],
  '--offset, --skip': ['--page', 'use --page N and --per-page N'],
  '--selector, -l, --where, --id, --label, --folder, --regex': [
    '--filter',
    hint`use -f FIELD=VALUE; see: ${imgctl('help', 'filters')}`,
  ],
  '--exclude, --not': ['--filter', "use -f 'name!~WORD'"],
  '--before, --until, --older-than, --after, --newer-than': [
    '--filter',
    "use -f 'updated_on<30d', or -f 'updated_on>=30d' for newer ones",
  ],
  '--sort-by, --order-by, --order, --reverse, -r, --desc': ['--sort'],
  '--fields, --field, --wide, --full': ['--columns'],
  '--format, --csv, --yaml, --tsv, --table': ['--output'],
  '--path': ['--get', 'use --get path'],
  '--follow, --watch, -w, -f': ['--wait'],
  '--async, --detach, -d': ['--no-wait'],
  '-n, --simulate, --check': ['--dry-run'],
  '--overwrite, --force, --replace': ['--on-conflict', 'use --on-conflict replace'],
  '--transfers, --jobs, -j, --threads, --concurrency': ['--parallel'],
  '--bwlimit, --rate-limit, --bandwidth': ['--limit-rate'],
  '--dest, --destination, --target, --bucket': ['--to'],
  '--url, --server, --host, --hostname, --endpoint, --endpoint-url': ['--base-url'],
  '--context, --account': ['--profile'],
  '--max-time, --connect-timeout, --request-timeout': ['--timeout'],
};
