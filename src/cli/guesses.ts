// What people type who know other programs, and what to use instead.

import { type Facts, imgctl } from '../facts.ts';
import { FORMAT_NAMES } from '../output/formats.ts';
import { FIELDS } from '../query/fields.ts';
import { shellQuote } from '../words.ts';

/**
 * A command, an option or a sentence; and what is typed for it: words of a command line, or unknown options. Verbs alone
 * count behind `images` too. What follows takes the place of words such as ID, and of TEXT if there is any.
 */
export const GUESSES: readonly (readonly [instead: string, typed: string])[] = [
  [
    'imgctl images list TEXT',
    'list, ls, ll, lst, lsl, lsf, lsjson, search, find, grep, get images, list images, search images, list-images, describe-images, images list --name, images list --search, images list --grep, images list --os',
  ],
  [
    'imgctl images get ID',
    'get, describe, view, show, cat, stat, images inspect, images diff, images compare, get image, show image, describe image',
  ],
  [
    'imgctl images get --mine ID',
    'my-images get, my-images show, my-images describe, my-images view, my-images info',
  ],
  [
    'imgctl my-images TEXT',
    'my images, my, mine, images mine, images list --private, images list --own, my-images --name',
  ],
  [
    'imgctl images latest TEXT',
    'latest, newest, policy, madison, images latest --name, images latest --os, images list --latest, images list --newest',
  ],
  ['imgctl images list -q TEXT | wc -l', 'count, wc, images list --count'],
  [
    'imgctl images changes TEXT',
    'changes, diff, watch, events, images log, images logs, images history, images list --watch, images list -w',
  ],
  ['imgctl images list --since TIME', 'images changes --since'],
  ['imgctl images snapshot FILE', 'snapshot, export, save, dump, backup'],
  [
    'public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: imgctl sync',
    'delete, remove, rm, rmi, del, destroy, prune, purge, autoremove, delete image, my-images delete, my-images remove, my-images rm, my-images del, my-images destroy, my-images prune',
  ],
  [
    'images cannot be changed; upload a new file with: imgctl push FILE --on-conflict replace',
    'edit, rename, mv, tag, untag, label, patch, modify, images update, images replace, edit image, update image, tag image, my-images update, my-images replace, my-images edit, my-images rename, my-images mv, my-images tag',
  ],
  [
    'imgctl push FILE',
    'upload, add, create, import, put, push, cp, copy, copyto, register, publish, scp, rsync, s3, s3 cp, s3 sync, create image, import image, upload image, my-images upload, my-images add, my-images create, my-images import, my-images push, my-images put',
  ],
  ['imgctl images lock add NAME TEXT', 'lock, pin, hold, freeze'],
  ['imgctl images lock remove NAME', 'unlock, unpin, unhold'],
  ['imgctl images lock list', 'locks, list locks, get locks, lock list, lock ls'],
  [
    'imgctl images get --lock NAME',
    'images lock get, images lock show, images lock view, images lock describe, images lock path',
  ],
  ['imgctl validate FILE, or for the setup: imgctl doctor', 'check, verify, test, lint, outdated'],
  ['imgctl sync-status TEXT --wait', 'wait, follow, sync wait, sync watch, sync follow'],
  [
    'imgctl sync-status TEXT',
    'status, st, sync status, sync show, sync get, sync describe, get sync, show sync, describe sync',
  ],
  ['imgctl sync-status NUMBER', 'sync'],
  [
    'imgctl sync-status --list',
    'history, log, logs, ps, jobs, tasks, runs, get syncs, list syncs, sync list, sync ls, sync history, sync log, sync logs',
  ],
  ['a sync request cannot be cancelled', 'cancel, sync cancel, sync stop, sync abort'],
  [
    'imgctl whoami',
    'auth, auth status, auth list, info, about, me, sts, account, cluster-info, context show, context current, context active, current-context, config current-context, profile current, profile active, profile show, profile get, profile view, profile describe',
  ],
  ['imgctl login --username USER', 'login'],
  [
    'imgctl login, or imgctl config set KEY VALUE',
    'configure, configure set, init, setup, config add, config put, config create, config --global, config --local, config --system',
  ],
  [
    'imgctl config list',
    'settings, configure list, configure get, get config, show config, config -l',
  ],
  ['imgctl config get NAME', 'config list'],
  [
    'edit the file that this command prints: imgctl config path',
    'config edit, config --edit, config -e, profile rename, profile mv, profile move',
  ],
  [
    'imgctl profile list',
    'contexts, context, context list, context ls, ctx, remote, remotes, listremotes, list profiles, get profiles, get-contexts, get-clusters, config get-contexts, configure list-profiles',
  ],
  [
    'imgctl profile use NAME',
    'use, switch, use-context, set-context, context use, context set, context switch, auth switch, config use-context, config set-context, profile set, profile activate, profile default, profile set-default, profile change, setting profile',
  ],
  [
    'imgctl profile delete NAME',
    'delete profile, context delete, context rm, context remove, remote rm, remote remove, delete-context',
  ],
  [
    'imgctl login --profile NAME',
    'context create, context add, remote add, remote create, profile add, profile create, profile new',
  ],
  [
    'set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: imgctl help environment',
    'env, environment, printenv, --proxy, --token, --with-token, --password, --pass, login -p, setting proxy, setting http-proxy, setting https-proxy, setting token, setting access-token, setting password, setting color, help cron, help ci, help unattended',
  ],
  ['upgrade it the way you installed it: see the README', 'upgrade, update, self-update'],
  [
    'the service itself deploys images; imgctl lists, checks and uploads them, and downloads none',
    'download, pull, install, fetch, clone, server, servers, vm, vms, instance, instances, pods, containers, ec2, deploy, run, start, stop, ssh, exec, boot',
  ],
  ['imgctl api PATH', 'curl, http, request, rest, api get, api GET'],
  ['imgctl completion TEXT', 'completion -s, completion --shell'],
  [
    '-n 100, to list fewer; every image is listed anyway',
    '--all, -a, -A, --all-versions, --no-limit, --no-paginate, --starting-token, --page-token, --offset, --skip, --page-size, --pagesize',
  ],
  [
    'omit it: it is the default',
    'images list --public, images list --ignore-case, images list -i, --headers, --progress, --no-pager, --no-cli-pager, -y, --yes, --assume-yes, --no-input, --auto-approve, sync --no-wait, sync-status --no-wait, push --wait, sync-status --last, sync-status --latest, mcp start, mcp serve, mcp run, emulator start, emulator serve, emulator run, token get, token show, token create, token refresh, token renew, sync start, sync run, sync submit, sync now',
  ],
  ['-n NUMBER', '-L, --max-items, --max, --max-results, --top, --head'],
  [
    '-f FIELD=VALUE; see: imgctl help filters',
    '--selector, -l, --field-selector, --filters, --where, --id, --label, --folder, --exact, --regex, --regexp, -E, --exclude, --not, --before, --older-than, --after, --newer-than',
  ],
  [
    '-s FIELD, or -s FIELD,desc',
    '--sort-by, --sort-column, --order-by, --order, --desc, --reverse, -r',
  ],
  ['-c FIELD, or -c all', '--fields, --field, --wide, --full'],
  [
    '-o FORMAT; see: imgctl help output',
    '--format, --csv, --yaml, --tsv, --ndjson, --table, help json, help yaml, help csv',
  ],
  [
    'pipe JSON to jq: imgctl COMMAND --json | jq',
    '--jq, --query, --template, images changes --get, images changes -c, images changes --columns',
  ],
  ['--get path, or list URLs with: imgctl images list --urls', '--path, images get --url'],
  ['--wait', '--follow, --watch, -w, -f'],
  ['--no-wait', '--async, --detach, -d'],
  ['--dry-run', '-n, --simulate, --check'],
  [
    '--on-conflict replace; or skip: identical files are skipped anyway',
    '--replace, --overwrite, --force, --ignore-existing, --skip-existing, --no-clobber',
  ],
  ['--parallel NUMBER', '--transfers, --jobs, -j, --threads, --workers, --concurrency'],
  ['--to FOLDER, or --to URL', '--dest, --destination, --target, --remote, --bucket'],
  [
    'name the files, such as *.ova; push deletes none',
    '--recursive, push -r, validate -r, inspect -r, push --delete, push --mirror',
  ],
  ['--base-url URL', '--url, --server, --host, --hostname, --endpoint, --endpoint-url'],
  ['--profile NAME', '--context, --account'],
  [
    'certificates are always verified; to trust a private one: imgctl config set ca-file FILE',
    '--insecure, -k, --no-verify-ssl, --skip-tls-verify, --no-check-certificate, --cacert, --ca-cert, --ca-bundle, --certificate-authority',
  ],
  ['--timeout 30s', '--max-time, --connect-timeout, --request-timeout, --cli-read-timeout'],
  [
    '--debug to trace requests, -q for less output, or -V for the version',
    '--verbose, -v, -vv, --trace, --silent',
  ],
  ['--color never', '--no-color'],
  ['--all', '--all-profiles'],
];

/** @param path of the command. @param typed words behind it. @param flags of the command, if the first word is an option */
export function guess(
  path: readonly string[],
  typed: readonly string[],
  flags?: readonly string[],
): Facts | undefined {
  const isAlone = flags !== undefined || path.join() === 'images';
  for (const count of flags ? [1] : [2, 1, 0]) {
    const words = typed.slice(0, count).join(' ');
    const phrases = [[...path, words].join(' ').trim(), ...(isAlone ? [words] : [])];
    // Behind an option, only its value.
    const rest = flags ? typed.slice(1, 2) : typed.slice(count);
    for (const phrase of phrases) {
      for (const [instead, known] of GUESSES) {
        if (!known.split(', ').includes(phrase)) continue;
        const [flag] = /^--?\w[\w-]*/.exec(instead) ?? [];
        if (flags && flag && !flags.includes(flag)) continue;
        const text = fill(instead, path, rest);
        if (text) return hintFor(text.replace(/^imgctl/, 'use: imgctl').replace(/^-/, 'use -'));
      }
    }
  }
  return undefined;
}

/** Returns the text with its command as a value, which ends before what no command has. */
function hintFor(text: string): Facts {
  const parts = text.split(/imgctl ([^;:|,]*[^;:|, ])/);
  const wordsOf = (part: string) =>
    (part.match(/'[^']*'|[^\s']+/g) ?? []).map((word) => word.replaceAll("'", ''));
  return {
    kind: 'hint',
    parts: parts.map((part, index) => (index % 2 === 0 ? part : imgctl(...wordsOf(part)))),
  };
}

/** Returns undefined if a number is needed, and none was typed. Shows only what could be no password of a URL. */
function fill(instead: string, path: readonly string[], rest: readonly string[]) {
  const arePlain = rest.every((word) => /^[\p{L}\p{N}/][\p{L}\p{N}._:,/ -]{0,59}$/u.test(word));
  const words = arePlain ? rest.map(shellQuote) : [];
  const [first = ''] = words;
  const all = words.join(' ');
  const values: Record<string, string> = {
    COMMAND: path.join(' '),
    FIELD: first.split(',').every((name) => FIELDS.some((field) => field === name)) ? first : '',
    FILE: words.find((word) => word.includes('.')) ?? '',
    FORMAT: FORMAT_NAMES.some((name) => name === first) ? first : '',
    NAME: first,
    NUMBER: words.find((word) => /^\d+$/.test(word)) ?? '',
    TEXT: instead.includes('NAME') ? words.slice(1).join(' ') : all,
    TIME: first,
    ID: all,
    PATH: all || '/v2',
    FOLDER: all,
  };
  if (instead.includes('NUMBER') && values.NUMBER === '') return undefined;
  return instead.replace(/ (?:TEXT|([A-Z]{2,}))\b/g, (place, name = 'TEXT') => {
    const value = values[name];
    return value ? ` ${value}` : name === 'TEXT' ? '' : place;
  });
}
