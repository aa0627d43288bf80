// What people type who know other programs, and what to use instead.

import { type Facts, hint, imgctl } from '../facts.ts';
import { FORMAT_NAMES } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { shellQuote } from '../words.ts';

type Advice = string | Facts;

/** Where a row was typed. */
interface Place {
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

function adviceOf(guessed: Guess, words: readonly string[], place: Place): Advice | undefined {
  return typeof guessed === 'function' ? guessed(words, place) : guessed;
}

/**
 * What is typed, words of a command line or unknown options, separated by commas; and what to use instead. Verbs alone
 * count behind `images` too.
 */
export const GUESSES: Readonly<Record<string, Guess>> = {
  'list, ls, ll, lst, lsl, lsf, lsjson, search, find, grep, get images, list images, search images, list-images, describe-images, images list --name, images list --search, images list --grep, images list --os':
    (words) => use('images', 'list', ...words),
  'get, describe, view, show, cat, stat, images inspect, images diff, images compare, get image, show image, describe image':
    (words) => use('images', 'get', ...idsIn(words)),
  'my-images get, my-images show, my-images describe, my-images view, my-images info': (words) =>
    use('images', 'get', '--mine', ...idsIn(words)),
  'my images, my, mine, images mine, images list --private, images list --own, my-images --name': (
    words,
  ) => use('my-images', ...words),
  'latest, newest, policy, madison, images latest --name, images latest --os, images list --latest, images list --newest':
    (words) => use('images', 'latest', ...words),
  'count, wc, images list --count': (words) =>
    hint`${use('images', 'list', '-q', ...words)} | wc -l`,
  'changes, diff, watch, events, images log, images logs, images history, images list --watch, images list -w':
    (words) => use('images', 'changes', ...words),
  'images changes --since': ([time = 'TIME']) => use('images', 'list', '--since', time),
  'snapshot, export, save, dump, backup': (words) => use('images', 'snapshot', fileIn(words)),
  'delete, remove, rm, rmi, del, destroy, prune, purge, autoremove, delete image, my-images delete, my-images remove, my-images rm, my-images del, my-images destroy, my-images prune': hint`public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: ${imgctl('sync')}`,
  'edit, rename, mv, tag, untag, label, patch, modify, images update, images replace, edit image, update image, tag image, my-images update, my-images replace, my-images edit, my-images rename, my-images mv, my-images tag':
    (words) =>
      hint`images cannot be changed; upload a new file with: ${imgctl('push', fileIn(words), '--on-conflict', 'replace')}`,
  'upload, add, create, import, put, push, cp, copy, copyto, register, publish, scp, rsync, s3, s3 cp, s3 sync, create image, import image, upload image, my-images upload, my-images add, my-images create, my-images import, my-images push, my-images put':
    (words) => use('push', fileIn(words)),
  'lock, pin, hold, freeze': ([name = 'NAME', ...text]) =>
    use('images', 'lock', 'add', name, ...text),
  'unlock, unpin, unhold': ([name = 'NAME']) => use('images', 'lock', 'remove', name),
  'locks, list locks, get locks, lock list, lock ls': use('images', 'lock', 'list'),
  'images lock get, images lock show, images lock view, images lock describe, images lock path': ([
    name = 'NAME',
  ]) => use('images', 'get', '--lock', name),
  'check, verify, test, lint, outdated': (words) =>
    hint`${use('validate', fileIn(words))}, or for the setup: ${imgctl('doctor')}`,
  'wait, follow, sync wait, sync watch, sync follow': (words) =>
    use('sync-status', ...words, '--wait'),
  'status, st, sync status, sync show, sync get, sync describe, get sync, show sync, describe sync':
    (words) => use('sync-status', ...words),
  sync: ifNumber((number) => use('sync-status', number)),
  'history, log, logs, ps, jobs, tasks, runs, get syncs, list syncs, sync list, sync ls, sync history, sync log, sync logs':
    use('sync-status', '--list'),
  'cancel, sync cancel, sync stop, sync abort': 'a sync request cannot be cancelled',
  'auth, auth status, auth list, info, about, me, sts, account, cluster-info, context show, context current, context active, current-context, config current-context, profile current, profile active, profile show, profile get, profile view, profile describe':
    use('whoami'),
  login: use('login', '--username', 'USER'),
  'configure, configure set, init, setup, config add, config put, config create, config --global, config --local, config --system': hint`${use('login')}, or ${imgctl('config', 'set', 'KEY', 'VALUE')}`,
  'settings, configure list, configure get, get config, show config, config -l': use(
    'config',
    'list',
  ),
  'config list': ([name = 'NAME']) => use('config', 'get', name),
  'config edit, config --edit, config -e, profile rename, profile mv, profile move': hint`edit the file that this command prints: ${imgctl('config', 'path')}`,
  'contexts, context, context list, context ls, ctx, remote, remotes, listremotes, list profiles, get profiles, get-contexts, get-clusters, config get-contexts, configure list-profiles':
    use('profile', 'list'),
  'use, switch, use-context, set-context, context use, context set, context switch, auth switch, config use-context, config set-context, profile set, profile activate, profile default, profile set-default, profile change, setting profile':
    ([name = 'NAME']) => use('profile', 'use', name),
  'delete profile, context delete, context rm, context remove, remote rm, remote remove, delete-context':
    ([name = 'NAME']) => use('profile', 'delete', name),
  'context create, context add, remote add, remote create, profile add, profile create, profile new':
    ([name = 'NAME']) => use('login', '--profile', name),
  'env, environment, printenv, --proxy, --token, --with-token, --password, --pass, login -p, setting proxy, setting http-proxy, setting https-proxy, setting token, setting access-token, setting password, setting color, help cron, help ci, help unattended': hint`set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: ${imgctl('help', 'environment')}`,
  'upgrade, update, self-update': 'upgrade it the way you installed it: see the README',
  'download, pull, install, fetch, clone, server, servers, vm, vms, instance, instances, pods, containers, ec2, deploy, run, start, stop, ssh, exec, boot':
    'the service itself deploys images; imgctl lists, checks and uploads them, and downloads none',
  'curl, http, request, rest, api get, api GET': (words) =>
    use('api', ...(words.length > 0 ? words : ['/v2'])),
  'completion -s, completion --shell': (words) => use('completion', ...words),
  '--all, -a, -A, --all-versions, --no-limit, --no-paginate, --starting-token, --page-token, --offset, --skip, --page-size, --pagesize':
    ifOption('-n', 'every image is listed; to list fewer, use -n 100'),
  'images list --public, images list --ignore-case, images list -i, --headers, --progress, --no-pager, --no-cli-pager, -y, --yes, --assume-yes, --no-input, --auto-approve, sync --no-wait, sync-status --no-wait, push --wait, sync-status --last, sync-status --latest, mcp start, mcp serve, mcp run, emulator start, emulator serve, emulator run, token get, token show, token create, token refresh, token renew, sync start, sync run, sync submit, sync now':
    'omit it: it is the default',
  '-L, --max-items, --max, --max-results, --top, --head': ifOption(
    '-n',
    ifNumber((number) => `use -n ${number}`),
  ),
  '--selector, -l, --field-selector, --filters, --where, --id, --label, --folder, --exact, --regex, --regexp, -E':
    ifOption(
      '-f',
      (words) => hint`use -f ${fieldIn(words)}=VALUE; see: ${imgctl('help', 'filters')}`,
    ),
  '--exclude, --not': ifOption('-f', ([word = 'WORD']) => `use -f ${shellQuote(`name!~${word}`)}`),
  '--before, --older-than, --after, --newer-than': ifOption('-f', (words) => {
    const time = timeIn(words);
    return `use -f 'updated_on<${time}', or -f 'updated_on>=${time}' for newer ones`;
  }),
  '--sort-by, --sort-column, --order-by, --order, --desc, --reverse, -r': ifOption(
    '-s',
    (words) => `use -s ${fieldIn(words)}, or -s ${fieldIn(words)},desc`,
  ),
  '--fields, --field, --wide, --full': ifOption(
    '-c',
    (words) => `use -c ${fieldIn(words)}, or -c all`,
  ),
  '--format, --csv, --yaml, --tsv, --ndjson, --table, help json, help yaml, help csv': ifOption(
    '-o',
    (words) => hint`use -o ${formatIn(words)}; see: ${imgctl('help', 'output')}`,
  ),
  '--jq, --query, --template, images changes --get, images changes -c, images changes --columns': (
    _,
    { path, others = [] },
  ) =>
    hint`pipe JSON to jq: ${imgctl(...(path.length > 0 ? path : ['COMMAND']), ...others, '--json')} | jq`,
  '--path, images get --url': ifOption(
    '--get',
    hint`use --get path, or list URLs with: ${imgctl('images', 'list', '--urls')}`,
  ),
  '--follow, --watch, -w, -f': ifOption('--wait', 'use --wait'),
  '--async, --detach, -d': ifOption('--no-wait', 'use --no-wait'),
  '-n, --simulate, --check': ifOption('--dry-run', 'use --dry-run'),
  '--replace, --overwrite, --force, --ignore-existing, --skip-existing, --no-clobber': ifOption(
    '--on-conflict',
    'use --on-conflict replace; identical files are always skipped',
  ),
  '--transfers, --jobs, -j, --threads, --workers, --concurrency': ifOption(
    '--parallel',
    ifNumber((number) => `use --parallel ${number}`),
  ),
  '--dest, --destination, --target, --remote, --bucket': ifOption(
    '--to',
    (words) => `use --to ${words.map(shellQuote).join(' ') || 'FOLDER'}, or --to URL`,
  ),
  '--recursive, push -r, validate -r, inspect -r, push --delete, push --mirror':
    'name the files, such as *.ova; push deletes none',
  '--url, --server, --host, --hostname, --endpoint, --endpoint-url': ifOption(
    '--base-url',
    'use --base-url URL',
  ),
  '--context, --account': ifOption(
    '--profile',
    ([name = 'NAME']) => `use --profile ${shellQuote(name)}`,
  ),
  '--insecure, -k, --no-verify-ssl, --skip-tls-verify, --no-check-certificate, --cacert, --ca-cert, --ca-bundle, --certificate-authority':
    (words) =>
      hint`certificates are always verified; to trust a private authority: ${imgctl('config', 'set', 'ca-file', fileIn(words))}`,
  '--max-time, --connect-timeout, --request-timeout, --cli-read-timeout': ifOption(
    '--timeout',
    'use --timeout 30s',
  ),
  '--verbose, -v, -vv, --trace, --silent': ifOption(
    '--debug',
    'use --debug to trace requests, -q for less output, or -V for the version',
  ),
  '--no-color': ifOption('--color', 'use --color never'),
  '--all-profiles': ifOption('--all', 'use --all'),
};

/**
 * Guesses what was meant with words that are no command, or too many: the first two words behind the path are tried, then
 * one, then the path alone. `get image web.ova` is `get image`, behind which `web.ova` was typed.
 */
export function guess(path: readonly string[], typed: readonly string[]): Advice | undefined {
  for (const count of [2, 1, 0]) {
    const phrase = typed.slice(0, count).join(' ');
    const behind = typed.slice(count);
    const words = behind.every(isPlain) ? behind : [];
    const advice =
      find([...path, phrase].join(' ').trim(), words, { path }) ??
      (path.join() === 'images' ? find(phrase, words, { path }) : undefined);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** Guesses what was meant with an unknown option. @param value behind it. @param place has what else was typed */
export function guessOption(
  path: readonly string[],
  unknown: string,
  value: string | undefined,
  place: Required<Omit<Place, 'path'>>,
): Advice | undefined {
  const words = value !== undefined && isPlain(value) ? [value] : [];
  const where = { ...place, path };
  // A row for one command makes a whole command: it keeps what else was typed.
  return (
    find([...path, unknown].join(' '), [...words, ...place.others], where) ??
    find(unknown, words, where)
  );
}

/** True if a word may be shown: one with other characters could be the password of a URL. */
export function isPlain(word: string): boolean {
  return /^[\p{L}\p{N}/][\p{L}\p{N}._:,/ -]{0,59}$/u.test(word);
}

function find(phrase: string, words: readonly string[], place: Place): Advice | undefined {
  const row = Object.entries(GUESSES).find(([typed]) => typed.split(', ').includes(phrase));
  return row && adviceOf(row[1], words, place);
}
