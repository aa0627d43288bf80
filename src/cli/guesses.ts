// What people type who know other programs, and what to use instead.

import { type Facts, hint, imgctl } from '../facts.ts';
import { FORMAT_NAMES } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { shellQuote } from '../words.ts';

/** Where the words or the option of a row were typed, and what was typed behind them. */
interface Typed {
  /** The command that was found before them. */
  readonly path: readonly string[];
  /** None if one of them could be the password of a URL. */
  readonly words: readonly string[];
}

type Advice = string | Facts;

const use = (...words: readonly string[]) => hint`use: ${imgctl(...words)}`;

const idsIn = (words: readonly string[]) => (words.length > 0 ? words : ['ID']);

const fileIn = (words: readonly string[]) => words.find((word) => word.includes('.')) ?? 'FILE';

const formatIn = ([word]: readonly string[]) =>
  FORMAT_NAMES.find((name) => name === word) ?? 'FORMAT';

function fieldIn([word = '']: readonly string[]): string {
  return word.split(',').every((name) => FIELDS.some((field) => field === name)) ? word : 'FIELD';
}

/** Gives advice only if a number was typed. */
function ifNumber(adviceFor: (number: string) => Advice) {
  return ({ words }: Typed) => {
    const number = words.find((word) => /^\d+$/.test(word));
    return number === undefined ? undefined : adviceFor(number);
  };
}

/**
 * What to use instead, and for what: words of a command line, or unknown options, separated by commas. Verbs alone count
 * behind `images` too. A row with an option counts only for commands that have this option.
 */
export const GUESSES: readonly (readonly [
  instead: Advice | ((typed: Typed) => Advice | undefined),
  known: string,
  option?: string,
])[] = [
  [
    ({ words }) => use('images', 'list', ...words),
    'list, ls, ll, lst, lsl, lsf, lsjson, search, find, grep, get images, list images, search images, list-images, describe-images, images list --name, images list --search, images list --grep, images list --os',
  ],
  [
    ({ words }) => use('images', 'get', ...idsIn(words)),
    'get, describe, view, show, cat, stat, images inspect, images diff, images compare, get image, show image, describe image',
  ],
  [
    ({ words }) => use('images', 'get', '--mine', ...idsIn(words)),
    'my-images get, my-images show, my-images describe, my-images view, my-images info',
  ],
  [
    ({ words }) => use('my-images', ...words),
    'my images, my, mine, images mine, images list --private, images list --own, my-images --name',
  ],
  [
    ({ words }) => use('images', 'latest', ...words),
    'latest, newest, policy, madison, images latest --name, images latest --os, images list --latest, images list --newest',
  ],
  [
    ({ words }) => hint`${use('images', 'list', '-q', ...words)} | wc -l`,
    'count, wc, images list --count',
  ],
  [
    ({ words }) => use('images', 'changes', ...words),
    'changes, diff, watch, events, images log, images logs, images history, images list --watch, images list -w',
  ],
  [
    ({ words: [time = 'TIME'] }) => use('images', 'list', '--since', time),
    'images changes --since',
  ],
  [({ words }) => use('images', 'snapshot', fileIn(words)), 'snapshot, export, save, dump, backup'],
  [
    hint`public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: ${imgctl('sync')}`,
    'delete, remove, rm, rmi, del, destroy, prune, purge, autoremove, delete image, my-images delete, my-images remove, my-images rm, my-images del, my-images destroy, my-images prune',
  ],
  [
    ({ words }) =>
      hint`images cannot be changed; upload a new file with: ${imgctl('push', fileIn(words), '--on-conflict', 'replace')}`,
    'edit, rename, mv, tag, untag, label, patch, modify, images update, images replace, edit image, update image, tag image, my-images update, my-images replace, my-images edit, my-images rename, my-images mv, my-images tag',
  ],
  [
    ({ words }) => use('push', fileIn(words)),
    'upload, add, create, import, put, push, cp, copy, copyto, register, publish, scp, rsync, s3, s3 cp, s3 sync, create image, import image, upload image, my-images upload, my-images add, my-images create, my-images import, my-images push, my-images put',
  ],
  [
    ({ words: [name = 'NAME', ...text] }) => use('images', 'lock', 'add', name, ...text),
    'lock, pin, hold, freeze',
  ],
  [({ words: [name = 'NAME'] }) => use('images', 'lock', 'remove', name), 'unlock, unpin, unhold'],
  [use('images', 'lock', 'list'), 'locks, list locks, get locks, lock list, lock ls'],
  [
    ({ words: [name = 'NAME'] }) => use('images', 'get', '--lock', name),
    'images lock get, images lock show, images lock view, images lock describe, images lock path',
  ],
  [
    ({ words }) => hint`${use('validate', fileIn(words))}, or for the setup: ${imgctl('doctor')}`,
    'check, verify, test, lint, outdated',
  ],
  [
    ({ words }) => use('sync-status', ...words, '--wait'),
    'wait, follow, sync wait, sync watch, sync follow',
  ],
  [
    ({ words }) => use('sync-status', ...words),
    'status, st, sync status, sync show, sync get, sync describe, get sync, show sync, describe sync',
  ],
  [ifNumber((number) => use('sync-status', number)), 'sync'],
  [
    use('sync-status', '--list'),
    'history, log, logs, ps, jobs, tasks, runs, get syncs, list syncs, sync list, sync ls, sync history, sync log, sync logs',
  ],
  ['a sync request cannot be cancelled', 'cancel, sync cancel, sync stop, sync abort'],
  [
    use('whoami'),
    'auth, auth status, auth list, info, about, me, sts, account, cluster-info, context show, context current, context active, current-context, config current-context, profile current, profile active, profile show, profile get, profile view, profile describe',
  ],
  [use('login', '--username', 'USER'), 'login'],
  [
    hint`${use('login')}, or ${imgctl('config', 'set', 'KEY', 'VALUE')}`,
    'configure, configure set, init, setup, config add, config put, config create, config --global, config --local, config --system',
  ],
  [
    use('config', 'list'),
    'settings, configure list, configure get, get config, show config, config -l',
  ],
  [({ words: [name = 'NAME'] }) => use('config', 'get', name), 'config list'],
  [
    hint`edit the file that this command prints: ${imgctl('config', 'path')}`,
    'config edit, config --edit, config -e, profile rename, profile mv, profile move',
  ],
  [
    use('profile', 'list'),
    'contexts, context, context list, context ls, ctx, remote, remotes, listremotes, list profiles, get profiles, get-contexts, get-clusters, config get-contexts, configure list-profiles',
  ],
  [
    ({ words: [name = 'NAME'] }) => use('profile', 'use', name),
    'use, switch, use-context, set-context, context use, context set, context switch, auth switch, config use-context, config set-context, profile set, profile activate, profile default, profile set-default, profile change, setting profile',
  ],
  [
    ({ words: [name = 'NAME'] }) => use('profile', 'delete', name),
    'delete profile, context delete, context rm, context remove, remote rm, remote remove, delete-context',
  ],
  [
    ({ words: [name = 'NAME'] }) => use('login', '--profile', name),
    'context create, context add, remote add, remote create, profile add, profile create, profile new',
  ],
  [
    hint`set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: ${imgctl('help', 'environment')}`,
    'env, environment, printenv, --proxy, --token, --with-token, --password, --pass, login -p, setting proxy, setting http-proxy, setting https-proxy, setting token, setting access-token, setting password, setting color, help cron, help ci, help unattended',
  ],
  ['upgrade it the way you installed it: see the README', 'upgrade, update, self-update'],
  [
    'the service itself deploys images; imgctl lists, checks and uploads them, and downloads none',
    'download, pull, install, fetch, clone, server, servers, vm, vms, instance, instances, pods, containers, ec2, deploy, run, start, stop, ssh, exec, boot',
  ],
  [
    ({ words }) => use('api', ...(words.length > 0 ? words : ['/v2'])),
    'curl, http, request, rest, api get, api GET',
  ],
  [({ words }) => use('completion', ...words), 'completion -s, completion --shell'],
  [
    'use -n 100, to list fewer; every image is listed anyway',
    '--all, -a, -A, --all-versions, --no-limit, --no-paginate, --starting-token, --page-token, --offset, --skip, --page-size, --pagesize',
    '-n',
  ],
  [
    'omit it: it is the default',
    'images list --public, images list --ignore-case, images list -i, --headers, --progress, --no-pager, --no-cli-pager, -y, --yes, --assume-yes, --no-input, --auto-approve, sync --no-wait, sync-status --no-wait, push --wait, sync-status --last, sync-status --latest, mcp start, mcp serve, mcp run, emulator start, emulator serve, emulator run, token get, token show, token create, token refresh, token renew, sync start, sync run, sync submit, sync now',
  ],
  [
    ifNumber((number) => `use -n ${number}`),
    '-L, --max-items, --max, --max-results, --top, --head',
    '-n',
  ],
  [
    ({ words }) => hint`use -f ${fieldIn(words)}=VALUE; see: ${imgctl('help', 'filters')}`,
    '--selector, -l, --field-selector, --filters, --where, --id, --label, --folder, --exact, --regex, --regexp, -E, --exclude, --not, --before, --older-than, --after, --newer-than',
    '-f',
  ],
  [
    ({ words }) => `use -s ${fieldIn(words)}, or -s ${fieldIn(words)},desc`,
    '--sort-by, --sort-column, --order-by, --order, --desc, --reverse, -r',
    '-s',
  ],
  [({ words }) => `use -c ${fieldIn(words)}, or -c all`, '--fields, --field, --wide, --full', '-c'],
  [
    ({ words }) => hint`use -o ${formatIn(words)}; see: ${imgctl('help', 'output')}`,
    '--format, --csv, --yaml, --tsv, --ndjson, --table, help json, help yaml, help csv',
    '-o',
  ],
  [
    ({ path }) =>
      hint`pipe JSON to jq: ${imgctl(...(path.length > 0 ? path : ['COMMAND']), '--json')} | jq`,
    '--jq, --query, --template, images changes --get, images changes -c, images changes --columns',
  ],
  [
    hint`use --get path, or list URLs with: ${imgctl('images', 'list', '--urls')}`,
    '--path, images get --url',
    '--get',
  ],
  ['use --wait', '--follow, --watch, -w, -f', '--wait'],
  ['use --no-wait', '--async, --detach, -d', '--no-wait'],
  ['use --dry-run', '-n, --simulate, --check', '--dry-run'],
  [
    'use --on-conflict replace; or skip: identical files are skipped anyway',
    '--replace, --overwrite, --force, --ignore-existing, --skip-existing, --no-clobber',
    '--on-conflict',
  ],
  [
    ifNumber((number) => `use --parallel ${number}`),
    '--transfers, --jobs, -j, --threads, --workers, --concurrency',
    '--parallel',
  ],
  [
    ({ words }) => `use --to ${words.map(shellQuote).join(' ') || 'FOLDER'}, or --to URL`,
    '--dest, --destination, --target, --remote, --bucket',
    '--to',
  ],
  [
    'name the files, such as *.ova; push deletes none',
    '--recursive, push -r, validate -r, inspect -r, push --delete, push --mirror',
  ],
  [
    'use --base-url URL',
    '--url, --server, --host, --hostname, --endpoint, --endpoint-url',
    '--base-url',
  ],
  [
    ({ words: [name = 'NAME'] }) => `use --profile ${shellQuote(name)}`,
    '--context, --account',
    '--profile',
  ],
  [
    ({ words }) =>
      hint`certificates are always verified; to trust a private one: ${imgctl('config', 'set', 'ca-file', fileIn(words))}`,
    '--insecure, -k, --no-verify-ssl, --skip-tls-verify, --no-check-certificate, --cacert, --ca-cert, --ca-bundle, --certificate-authority',
  ],
  [
    'use --timeout 30s',
    '--max-time, --connect-timeout, --request-timeout, --cli-read-timeout',
    '--timeout',
  ],
  [
    'use --debug to trace requests, -q for less output, or -V for the version',
    '--verbose, -v, -vv, --trace, --silent',
    '--debug',
  ],
  ['use --color never', '--no-color', '--color'],
  ['use --all', '--all-profiles', '--all'],
];

/**
 * Guesses what was meant with words that are no command, or too many: the first two words behind the path are tried, then
 * one, then the path alone. `get image web.ova` is `get image`, behind which `web.ova` was typed.
 */
export function guess(path: readonly string[], typed: readonly string[]): Advice | undefined {
  for (const count of [2, 1, 0]) {
    const rest = { path, words: typed.slice(count) };
    const phrase = typed.slice(0, count).join(' ');
    const advice =
      adviceFor([...path, phrase].join(' ').trim(), rest) ??
      (path.join() === 'images' ? adviceFor(phrase, rest) : undefined);
    if (advice !== undefined) return advice;
  }
  return undefined;
}

/** Guesses what was meant with an unknown option. @param value behind it. @param options that the command has */
export function guessOption(
  path: readonly string[],
  unknown: string,
  value: string | undefined,
  options: readonly string[],
): Advice | undefined {
  const rest = { path, words: value === undefined ? [] : [value] };
  const phrase = [...path, unknown].join(' ');
  return adviceFor(phrase, rest, options) ?? adviceFor(unknown, rest, options);
}

/** Words with other characters are not shown: they could be the password of a URL. */
const PLAIN_WORD = /^[\p{L}\p{N}/][\p{L}\p{N}._:,/ -]{0,59}$/u;

function adviceFor(
  phrase: string,
  { path, words }: Typed,
  options?: readonly string[],
): Advice | undefined {
  const row = GUESSES.find(([, known]) => known.split(', ').includes(phrase));
  if (row === undefined) return undefined;
  const [instead, , option] = row;
  if (option && options && !options.includes(option)) return undefined;
  if (typeof instead !== 'function') return instead;
  const arePlain = words.every((word) => PLAIN_WORD.test(word));
  return instead({ path, words: arePlain ? words : [] });
}
