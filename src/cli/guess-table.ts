// What people type who know other programs, and what to use instead.

import { type Facts, hint, imgctl } from '../facts.ts';
import { FORMAT_NAMES } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { shellQuote } from '../words.ts';

export type Advice = string | Facts;

/** Where a row was typed. */
export interface Place {
  /** The command that was found before it. */
  readonly path: readonly string[];
  /** The options of that command, if the row is an unknown option. */
  readonly options?: readonly string[];
  /** The other words of the line. */
  readonly others?: readonly string[];
}

/** @param words typed behind the row; none if one of them could be the password of a URL */
type Guess = Advice | ((words: readonly string[], place: Place) => Advice | undefined);

const use = (...words: readonly string[]) => hint`use: ${imgctl(...words)}`;

const idsIn = (words: readonly string[]) => (words.length > 0 ? words : ['ID']);

const fileIn = (words: readonly string[]) => words.find((word) => word.includes('.')) ?? 'FILE';

const formatIn = ([word]: readonly string[]) =>
  FORMAT_NAMES.find((name) => name === word) ?? 'FORMAT';

const timeIn = (words: readonly string[]) =>
  words.find((word) => /^(\d+[smhdwy]|\d{4}-[\d:TZ-]*)$/.test(word)) ?? 'TIME';

function fieldIn([word = '']: readonly string[]): string {
  return word.split(',').every((name) => FIELDS.some((field) => field === name)) ? word : 'FIELD';
}

/** Gives advice only if a number was typed. */
function ifNumber(numberAdvice: (number: string) => Advice): Guess {
  return (words) => {
    const number = words.find((word) => /^\d+$/.test(word));
    return number === undefined ? undefined : numberAdvice(number);
  };
}

/** Gives advice about an unknown option only if the command has the option that does it. */
function ifOption(option: string, guessed: Guess): Guess {
  return (words, place) => {
    const { options = [option] } = place;
    return options.includes(option) ? adviceOf(guessed, words, place) : undefined;
  };
}

export function adviceOf(
  guessed: Guess,
  words: readonly string[],
  place: Place,
): Advice | undefined {
  return typeof guessed === 'function' ? guessed(words, place) : guessed;
}

/** What people type, as phrases separated by commas, and what to use instead. */
interface GuessRow {
  /** Words of a command line, or options of any command: `list, get images` or `--max, -L`. */
  readonly typed?: readonly string[];
  /** Words or options behind one command: `'images list': '--name, --os'`. */
  readonly behind?: Readonly<Record<string, string>>;
  readonly advice: Guess;
}

/** No phrase has two rows. Verbs alone count behind `images` too: `list` is also `images list`. */
export const GUESSES: readonly GuessRow[] = [
  // Commands for images
  {
    typed: [
      'list, ls, ll, lst, lsl, lsf, lsjson, search, find, grep',
      'get images, list images, search images, list-images, describe-images',
    ],
    behind: { 'images list': '--name, --search, --grep, --os' },
    advice: (words) => use('images', 'list', ...words),
  },
  {
    typed: ['get, describe, view, show, cat, stat', 'get image, show image, describe image'],
    behind: { images: 'inspect, diff, compare' },
    advice: (words) => use('images', 'get', ...idsIn(words)),
  },
  {
    behind: { 'my-images': 'get, show, describe, view, info' },
    advice: (words) => use('images', 'get', '--mine', ...idsIn(words)),
  },
  {
    typed: ['my images, my, mine'],
    behind: { images: 'mine', 'images list': '--private, --own', 'my-images': '--name' },
    advice: (words) => use('my-images', ...words),
  },
  {
    typed: ['latest, newest, policy, madison'],
    behind: { 'images latest': '--name, --os', 'images list': '--latest, --newest' },
    advice: (words) => use('images', 'latest', ...words),
  },
  {
    typed: ['count, wc'],
    behind: { 'images list': '--count' },
    advice: (words) => hint`${use('images', 'list', '-q', ...words)} | wc -l`,
  },
  {
    typed: ['changes, diff, watch, events'],
    behind: { images: 'log, logs, history', 'images list': '--watch, -w' },
    advice: (words) => use('images', 'changes', ...words),
  },
  {
    behind: { 'images changes': '--since' },
    advice: ([time = 'TIME']) => use('images', 'list', '--since', time),
  },
  {
    typed: ['snapshot, export, save, dump, backup'],
    advice: (words) => use('images', 'snapshot', fileIn(words)),
  },
  {
    typed: ['delete, remove, rm, rmi, del, destroy, prune, purge, autoremove, delete image'],
    behind: { 'my-images': 'delete, remove, rm, del, destroy, prune' },
    advice: hint`public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: ${imgctl('sync')}`,
  },
  {
    typed: [
      'edit, rename, mv, tag, untag, label, patch, modify',
      'edit image, update image, tag image',
    ],
    behind: { images: 'update, replace', 'my-images': 'update, replace, edit, rename, mv, tag' },
    advice: (words) =>
      hint`images cannot be changed; upload a new file with: ${imgctl('push', fileIn(words), '--on-conflict', 'replace')}`,
  },
  {
    typed: ['lock, pin, hold, freeze'],
    advice: ([name = 'NAME', ...text]) => use('images', 'lock', 'add', name, ...text),
  },
  {
    typed: ['unlock, unpin, unhold'],
    advice: ([name = 'NAME']) => use('images', 'lock', 'remove', name),
  },
  {
    typed: ['locks, list locks, get locks, lock list, lock ls'],
    advice: use('images', 'lock', 'list'),
  },
  {
    behind: { 'images lock': 'get, show, view, describe, path' },
    advice: ([name = 'NAME']) => use('images', 'get', '--lock', name),
  },

  // Commands for packages and sync requests
  {
    typed: [
      'upload, add, create, import, put, push, cp, copy, copyto, register, publish',
      'scp, rsync, s3, s3 cp, s3 sync, create image, import image, upload image',
    ],
    behind: { 'my-images': 'upload, add, create, import, push, put' },
    advice: (words) => use('push', fileIn(words)),
  },
  {
    typed: ['check, verify, test, lint, outdated'],
    advice: (words) =>
      hint`${use('validate', fileIn(words))}, or for the setup: ${imgctl('doctor')}`,
  },
  {
    typed: ['wait, follow'],
    behind: { sync: 'wait, watch, follow' },
    advice: (words) => use('sync-status', ...words, '--wait'),
  },
  {
    typed: ['status, st, get sync, show sync, describe sync'],
    behind: { sync: 'status, show, get, describe' },
    advice: (words) => use('sync-status', ...words),
  },
  { typed: ['sync'], advice: ifNumber((number) => use('sync-status', number)) },
  {
    typed: ['history, log, logs, ps, jobs, tasks, runs, get syncs, list syncs'],
    behind: { sync: 'list, ls, history, log, logs' },
    advice: use('sync-status', '--list'),
  },
  {
    typed: ['cancel'],
    behind: { sync: 'cancel, stop, abort' },
    advice: 'a sync request cannot be cancelled',
  },

  // Commands for the login, profiles and settings
  {
    typed: [
      'auth, auth status, auth list, info, about, me, sts, account, cluster-info',
      'context show, context current, context active, current-context',
    ],
    behind: { config: 'current-context', profile: 'current, active, show, get, view, describe' },
    advice: use('whoami'),
  },
  { typed: ['login'], advice: use('login', '--username', 'USER') },
  {
    typed: ['configure, configure set, init, setup'],
    behind: { config: 'add, put, create, --global, --local, --system' },
    advice: hint`${use('login')}, or ${imgctl('config', 'set', 'KEY', 'VALUE')}`,
  },
  {
    typed: ['settings, configure list, configure get, get config, show config'],
    behind: { config: '-l' },
    advice: use('config', 'list'),
  },
  { behind: { config: 'list' }, advice: ([name = 'NAME']) => use('config', 'get', name) },
  {
    behind: { config: 'edit, --edit, -e', profile: 'rename, mv, move' },
    advice: hint`edit the file that this command prints: ${imgctl('config', 'path')}`,
  },
  {
    typed: [
      'contexts, context, context list, context ls, ctx, remote, remotes, listremotes',
      'list profiles, get profiles, get-contexts, get-clusters, configure list-profiles',
    ],
    behind: { config: 'get-contexts' },
    advice: use('profile', 'list'),
  },
  {
    typed: [
      'use, switch, use-context, set-context, context use, context set, context switch',
      'auth switch',
    ],
    behind: {
      config: 'use-context, set-context',
      profile: 'set, activate, default, set-default, change',
      setting: 'profile',
    },
    advice: ([name = 'NAME']) => use('profile', 'use', name),
  },
  {
    typed: [
      'delete profile, context delete, context rm, context remove, delete-context',
      'remote rm, remote remove',
    ],
    advice: ([name = 'NAME']) => use('profile', 'delete', name),
  },
  {
    typed: ['context create, context add, remote add, remote create'],
    behind: { profile: 'add, create, new' },
    advice: ([name = 'NAME']) => use('login', '--profile', name),
  },
  {
    typed: ['env, environment, printenv', '--proxy, --token, --with-token, --password, --pass'],
    behind: {
      login: '-p',
      setting: 'proxy, http-proxy, https-proxy, token, access-token, password, color',
      help: 'cron, ci, unattended',
    },
    advice: hint`set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: ${imgctl('help', 'environment')}`,
  },

  // Other commands
  {
    typed: ['upgrade, update, self-update'],
    advice: 'upgrade it the way you installed it: see the README',
  },
  {
    typed: [
      'download, pull, install, fetch, clone, server, servers, vm, vms, instance, instances',
      'pods, containers, ec2, deploy, run, start, stop, ssh, exec, boot',
    ],
    advice:
      'the service itself deploys images; imgctl lists, checks and uploads them, and downloads none',
  },
  {
    typed: ['curl, http, request, rest'],
    behind: { api: 'get, GET' },
    advice: (words) => use('api', ...(words.length > 0 ? words : ['/v2'])),
  },
  { behind: { completion: '-s, --shell' }, advice: (words) => use('completion', ...words) },

  // What is the default
  {
    typed: [
      '--all, -a, -A, --all-versions, --no-limit, --no-paginate',
      '--starting-token, --page-token, --offset, --skip, --page-size, --pagesize',
    ],
    advice: ifOption('-n', 'every image is listed; to list fewer, use -n 100'),
  },
  {
    typed: [
      '--headers, --progress, --no-pager, --no-cli-pager',
      '-y, --yes, --assume-yes, --no-input, --auto-approve',
    ],
    behind: {
      'images list': '--public, --ignore-case, -i',
      sync: '--no-wait, start, run, submit, now',
      'sync-status': '--no-wait, --last, --latest',
      push: '--wait',
      mcp: 'start, serve, run',
      emulator: 'start, serve, run',
      token: 'get, show, create, refresh, renew',
    },
    advice: 'omit it: it is the default',
  },

  // Options of lists
  {
    typed: ['-L, --max-items, --max, --max-results, --top, --head'],
    advice: ifOption(
      '-n',
      ifNumber((number) => `use -n ${number}`),
    ),
  },
  {
    typed: [
      '--selector, -l, --field-selector, --filters, --where, --id, --label, --folder',
      '--exact, --regex, --regexp, -E',
    ],
    advice: ifOption(
      '-f',
      (words) => hint`use -f ${fieldIn(words)}=VALUE; see: ${imgctl('help', 'filters')}`,
    ),
  },
  {
    typed: ['--exclude, --not'],
    advice: ifOption('-f', ([word = 'WORD']) => `use -f ${shellQuote(`name!~${word}`)}`),
  },
  {
    typed: ['--before, --older-than, --after, --newer-than'],
    advice: ifOption('-f', (words) => {
      const time = timeIn(words);
      return `use -f 'updated_on<${time}', or -f 'updated_on>=${time}' for newer ones`;
    }),
  },
  {
    typed: ['--sort-by, --sort-column, --order-by, --order, --desc, --reverse, -r'],
    advice: ifOption('-s', (words) => `use -s ${fieldIn(words)}, or -s ${fieldIn(words)},desc`),
  },
  {
    typed: ['--fields, --field, --wide, --full'],
    advice: ifOption('-c', (words) => `use -c ${fieldIn(words)}, or -c all`),
  },
  {
    typed: ['--format, --csv, --yaml, --tsv, --ndjson, --table'],
    behind: { help: 'json, yaml, csv' },
    advice: ifOption(
      '-o',
      (words) => hint`use -o ${formatIn(words)}; see: ${imgctl('help', 'output')}`,
    ),
  },
  {
    typed: ['--jq, --query, --template'],
    behind: { 'images changes': '--get, -c, --columns' },
    advice: (_, { path, others = [] }) =>
      hint`pipe JSON to jq: ${imgctl(...(path.length > 0 ? path : ['COMMAND']), ...others, '--json')} | jq`,
  },
  {
    typed: ['--path'],
    behind: { 'images get': '--url' },
    advice: ifOption(
      '--get',
      hint`use --get path, or list URLs with: ${imgctl('images', 'list', '--urls')}`,
    ),
  },

  // Options of sync, sync-status and push
  { typed: ['--follow, --watch, -w, -f'], advice: ifOption('--wait', 'use --wait') },
  { typed: ['--async, --detach, -d'], advice: ifOption('--no-wait', 'use --no-wait') },
  { typed: ['-n, --simulate, --check'], advice: ifOption('--dry-run', 'use --dry-run') },
  {
    typed: ['--replace, --overwrite, --force, --ignore-existing, --skip-existing, --no-clobber'],
    advice: ifOption(
      '--on-conflict',
      'use --on-conflict replace; identical files are always skipped',
    ),
  },
  {
    typed: ['--transfers, --jobs, -j, --threads, --workers, --concurrency'],
    advice: ifOption(
      '--parallel',
      ifNumber((number) => `use --parallel ${number}`),
    ),
  },
  {
    typed: ['--dest, --destination, --target, --remote, --bucket'],
    advice: ifOption(
      '--to',
      (words) => `use --to ${words.map(shellQuote).join(' ') || 'FOLDER'}, or --to URL`,
    ),
  },
  {
    typed: ['--recursive'],
    behind: { push: '-r, --delete, --mirror', validate: '-r', inspect: '-r' },
    advice: 'name the files, such as *.ova; push deletes none',
  },

  // Options of many commands
  {
    typed: ['--url, --server, --host, --hostname, --endpoint, --endpoint-url'],
    advice: ifOption('--base-url', 'use --base-url URL'),
  },
  {
    typed: ['--context, --account'],
    advice: ifOption('--profile', ([name = 'NAME']) => `use --profile ${shellQuote(name)}`),
  },
  {
    typed: [
      '--insecure, -k, --no-verify-ssl, --skip-tls-verify, --no-check-certificate',
      '--cacert, --ca-cert, --ca-bundle, --certificate-authority',
    ],
    advice: (words) =>
      hint`certificates are always verified; to trust a private authority: ${imgctl('config', 'set', 'ca-file', fileIn(words))}`,
  },
  {
    typed: ['--max-time, --connect-timeout, --request-timeout, --cli-read-timeout'],
    advice: ifOption('--timeout', 'use --timeout 30s'),
  },
  {
    typed: ['--verbose, -v, -vv, --trace, --silent'],
    advice: ifOption(
      '--debug',
      'use --debug to trace requests, -q for less output, or -V for the version',
    ),
  },
  { typed: ['--no-color'], advice: ifOption('--color', 'use --color never') },
  { typed: ['--all-profiles'], advice: ifOption('--all', 'use --all') },
];

/** Returns each phrase of a row as it is typed: `list`, `get images`, `images list --name`. */
export function phrasesOf({ typed = [], behind = {} }: GuessRow): string[] {
  const alone = typed.flatMap((line) => line.split(', '));
  const following = Object.entries(behind).flatMap(([command, words]) =>
    words.split(', ').map((word) => `${command} ${word}`),
  );
  return [...alone, ...following];
}
