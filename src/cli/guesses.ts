// What people type who know other tools, and what to do instead.

import { shellQuote } from '../words.ts';

const DELETE =
  'public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: imgctl sync';
const CHANGE = 'images cannot be changed; upload a new file with: imgctl push FILE';
const TRUST =
  'certificates are always verified; to trust a private one: imgctl config set ca-file FILE';
const NO_DOWNLOAD = 'there is no download: the service deploys images itself';
const ONLY_IMAGES = 'imgctl lists, checks and uploads images; the service deploys them';

/**
 * Words or options as typed after a command; where (the path of that command, `*` for any, `+limit` for those with the
 * option --limit); and what to say. `|` separates, and # is a number. ID, NAME, TEXT, FILE and TIME stand for what was
 * typed behind it. No advice is better than a wrong one.
 */
export const GUESSES: readonly (readonly [typed: string, where: string, say: string])[] = [
  // Images
  [
    'list|ls|lst|ll|lsl|lsf|lsjson|get images|list-images|describe-images',
    '',
    'use: imgctl images list',
  ],
  ['list|ls', 'my-images', 'use: imgctl my-images'],
  ['search|find|grep', '|images', 'use: imgctl images list TEXT'],
  ['get|describe|view|show|cat|stat', '|images', 'use: imgctl images get ID'],
  ['info|inspect', 'images', 'use: imgctl images get ID'],
  ['get|describe|view|show|info', 'my-images', 'use: imgctl images get --mine ID'],
  ['latest|newest|policy|madison', '|images', 'use: imgctl images latest TEXT'],
  ['count|wc', '|images', 'use: imgctl images list -q | wc -l'],
  ['changes|diff|watch|events', '|images', 'use: imgctl images changes'],
  ['log|logs|history', 'images', 'use: imgctl images changes'],
  ['snapshot|export|save|dump|backup', '|images', 'use: imgctl images snapshot FILE'],
  ['download|pull|install|fetch|clone', '|images', NO_DOWNLOAD],
  ['delete|remove|rm|rmi|del|destroy|prune|purge|autoremove', '|images|my-images', DELETE],
  [
    'edit|rename|mv|tag|untag|label|add-label|remove-label|patch|modify',
    '|images|my-images',
    CHANGE,
  ],
  ['update image|edit image|tag image', '', CHANGE],
  ['s3|s3 cp|s3 sync', '', 'use: imgctl push FILE'],
  [
    'upload|add|create|import|put|push|cp|copy|copyto|register|publish|scp|rsync',
    '|images|my-images',
    'use: imgctl push FILE',
  ],
  ['update|replace', 'images|my-images', 'use: imgctl push FILE --on-conflict replace'],
  // Locks
  ['lock|pin|hold|freeze', '|images', 'use: imgctl images lock add NAME TEXT'],
  ['unlock|unpin|unhold', '|images', 'use: imgctl images lock remove NAME'],
  ['list locks|get locks', '', 'use: imgctl images lock list'],
  ['outdated', '|images', 'use: imgctl images lock check'],
  ['rm|delete|del|unlock|uninstall', 'images lock', 'use: imgctl images lock remove NAME'],
  ['get|show|view|describe|path', 'images lock', 'use: imgctl images get --lock NAME'],
  ['create|new|set|put', 'images lock', 'use: imgctl images lock add NAME TEXT'],
  [
    'diff|status|verify|outdated|test|audit|validate',
    'images lock',
    'use: imgctl images lock check',
  ],
  ['upgrade|refresh|bump|sync|install', 'images lock', 'use: imgctl images lock update'],
  // Packages and syncs
  [
    'check|verify|test|lint',
    '',
    'check a package: imgctl validate FILE; check the setup: imgctl doctor',
  ],
  ['status|st|sync status|get sync|describe sync|show sync', '', 'use: imgctl sync-status'],
  ['get sync #|describe sync #|show sync #', '', 'use: imgctl sync-status #'],
  ['wait|follow', '', 'use: imgctl sync-status --wait'],
  ['history|log|logs|ps|jobs|tasks|runs|get syncs', '', 'use: imgctl sync-status --list'],
  ['#', 'sync', 'use: imgctl sync-status #'],
  ['wait #|watch #|follow #', 'sync', 'use: imgctl sync-status # --wait'],
  ['status #|show #|get #|describe #', 'sync', 'use: imgctl sync-status #'],
  ['status|show|get', 'sync', 'use: imgctl sync-status'],
  ['list|ls|history|log|logs', 'sync', 'use: imgctl sync-status --list'],
  ['start|run|submit|now', 'sync', 'use: imgctl sync'],
  ['wait|watch|follow', 'sync', 'use: imgctl sync --wait'],
  ['cancel|stop|abort', 'sync', 'a sync request cannot be cancelled'],
  // Login and settings
  ['auth login|signin|sign-in|logon|sso|sso login', '', 'use: imgctl login'],
  ['auth logout|signout|sign-out|logoff|sso logout', '', 'use: imgctl logout'],
  ['auth token|auth print-access-token', '', 'use: imgctl token'],
  ['auth status|auth list|info|about|me|sts|cluster-info', '', 'use: imgctl whoami'],
  ['auth', '', 'use one of: imgctl login, imgctl whoami, imgctl token, imgctl logout'],
  ['ping|health|diagnose|healthcheck|debug', '', 'use: imgctl doctor'],
  ['configure|init|setup', '', 'use: imgctl login, or imgctl config set KEY VALUE'],
  ['configure list|configure get|settings|get config|show config', '', 'use: imgctl config list'],
  ['configure set', '', 'use: imgctl config set KEY VALUE'],
  ['add|put', 'config', 'use: imgctl config set KEY VALUE'],
  [
    'configure list-profiles|listremotes|get profiles|list profiles',
    '',
    'use: imgctl profile list',
  ],
  [
    'context list|context ls|contexts|remote|remotes|context|ctx|get-contexts|get-clusters',
    '|config',
    'use: imgctl profile list',
  ],
  [
    'auth switch|use|switch|use-context|context use|context set|context switch|set-context',
    '|config',
    'use: imgctl profile use NAME',
  ],
  ['context create|context add|remote add|remote create', '', 'use: imgctl login --profile NAME'],
  [
    'context delete|context rm|context remove|remote rm|remote remove|remote delete|delete profile|delete-context',
    '|config',
    'use: imgctl profile delete NAME',
  ],
  ['context active|context current|context show|current-context', '|config', 'use: imgctl whoami'],
  ['refresh|renew|create|get|show', 'token', 'use: imgctl token'],
  ['--all-profiles', 'logout', 'use --all'],
  ['view|show|dump|cat|ls|--list|-l', 'config', 'use: imgctl config list'],
  ['file|where|location', 'config', 'use: imgctl config path'],
  ['rm|remove|delete|del|clear|reset|--unset', 'config', 'use: imgctl config unset KEY'],
  ['--get', 'config', 'use: imgctl config get KEY'],
  ['--global|--local|--system|--add', 'config', 'use: imgctl config set KEY VALUE'],
  [
    'edit|create|--edit|-e',
    'config',
    'use: imgctl config set KEY VALUE, or edit the file: imgctl config path',
  ],
  ['add|create|new', 'profile', 'use: imgctl login --profile NAME'],
  [
    'switch|set|select|activate|set-default|default|change',
    'profile',
    'use: imgctl profile use NAME',
  ],
  [
    'rename|mv|move',
    'profile',
    'change its name in the settings file: imgctl config path; it gets new cursors and a new history',
  ],
  ['rm|remove|del', 'profile', 'use: imgctl profile delete NAME'],
  ['current|active|show|get|view|describe', 'profile', 'use: imgctl whoami'],
  [
    'proxy|http-proxy|https-proxy|http_proxy|https_proxy',
    'setting',
    'set the variable HTTPS_PROXY',
  ],
  ['password|secret|pass', 'setting', 'use password-command or password-file'],
  ['token|access-token', 'setting', 'set the variable IMGCTL_TOKEN'],
  ['url|endpoint|endpoint-url|endpoint_url|server|host|address', 'setting', 'use base-url'],
  ['user|login|account', 'setting', 'use username'],
  ['profile|default-profile', 'setting', 'use: imgctl profile use NAME'],
  ['color|colour', 'setting', 'set the variable NO_COLOR'],
  // Others
  ['upgrade|update|self-update', '', 'upgrade imgctl the way you installed it: see the README'],
  ['server|servers|vm|vms|instance|instances|pods|containers|ec2', '', ONLY_IMAGES],
  ['deploy|run|start|stop|ssh|exec|boot', '', ONLY_IMAGES],
  ['start|serve|run|up', 'mcp|emulator', 'omit the word'],
  ['explain|man|docs|api-resources|usage', '', 'see: imgctl --help'],
  ['alias|aliases', '', 'imgctl has no aliases; use those of your shell'],
  ['curl|http|request|rest', '', 'use: imgctl api /v2'],
  ['json|yaml|csv', 'help', 'see: imgctl help output'],
  [
    'cron|ci|unattended',
    'help',
    'for jobs, set a password file or command; see: imgctl login --help',
  ],
  // Options of lists
  [
    '--all|-a|-A|--all-versions|--no-limit|--no-paginate',
    '+limit',
    'omit it: every image is listed unless you use --limit',
  ],
  ['-L|--max-items|--max|--max-results|--top|--head', '+limit', 'use -n #'],
  ['--count', '+limit', 'count ids with: imgctl images list -q | wc -l'],
  ['--watch|-w', '+limit', 'show what changed with: imgctl images changes'],
  ['--page-size|--pagesize', '+per-page', 'use --per-page #'],
  ['--starting-token|--page-token|--offset|--skip', '+page', 'omit it: every page is read'],
  ['--name|--search|--grep', '+filter', 'words search names: imgctl images list TEXT'],
  ['--folder', '+filter', 'use -f folder=NAME'],
  ['--exclude|--not', '+filter', "use -f 'name!~TEXT'"],
  [
    '--selector|--field-selector|--filters|--where|--id|--label|--path|--data-store|--public',
    '+filter',
    'use -f FIELD=VALUE',
  ],
  ['--exact', '+filter', 'use -f name=NAME'],
  ['--regex|--regexp|-E', '+filter', "use -f 'name,like,TEXT%'"],
  ['--ignore-case|-i', '+filter', 'omit it: words ignore case'],
  ['--before|--older-than|--until', '+filter', "use -f 'updated_on<TIME'"],
  ['--after|--newer-than', '+since', 'use --since TIME'],
  ['--desc|--reverse|-r', '+sort', 'use -s FIELD,desc'],
  ['--sort-by|--order-by|--order', '+sort', 'use -s FIELD'],
  ['--fields|--field', '+columns', 'use -c FIELD'],
  ['--wide', '+columns', 'use -c all'],
  ['--full|--no-truncate', '+no-trunc', 'use --no-trunc'],
  ['--headers', '+no-header', 'omit it: headers are shown unless you use --no-header'],
  ['--since', 'images changes', 'use: imgctl images list --since 7d'],
  ['--get|-c|--columns', 'images changes', 'use: imgctl images changes --json | jq'],
  ['--url', 'images get', 'list URLs with: imgctl images list --urls'],
  // Options of syncs and packages
  ['--follow|--watch|-w|-f', 'sync|sync-status', 'use --wait'],
  ['--last|--latest', 'sync-status', 'omit it: without an id, the last request is shown'],
  ['--no-wait|--async|--detach|-d', 'sync|sync-status', 'omit it: it waits only with --wait'],
  ['--async|--detach|-d', 'push', 'use --no-wait'],
  ['--wait', 'push', 'omit it: push waits by default'],
  ['-n|--simulate|--check', 'push|sync', 'use --dry-run'],
  [
    '--replace|--overwrite|--force',
    'push',
    'use --on-conflict replace; identical files are skipped',
  ],
  ['--ignore-existing|--skip-existing|--no-clobber', 'push', 'use --on-conflict skip'],
  ['--transfers|--jobs|-j|--threads|--workers', 'push', 'use --parallel #'],
  ['--dest|--destination|--target|--remote|--bucket', 'push', 'use --to FOLDER, or --to URL'],
  ['--recursive|-r', 'push|validate|inspect', 'name the files, such as *.ova'],
  ['--delete|--mirror', 'push', 'omit it: push deletes no files'],
  ['--progress|-P', '*', 'omit it: progress is shown on a terminal'],
  // Options of every command
  ['--url|--server|--host|--hostname|--endpoint|--endpoint-url', '*', 'use --base-url URL'],
  ['--token|--with-token', '*', 'no option takes a secret; set IMGCTL_TOKEN'],
  [
    '--password|-p|--pass',
    'login',
    'no option takes a secret; use --password-stdin or IMGCTL_PASSWORD',
  ],
  ['--format', '*', 'use -o FORMAT, such as -o json'],
  ['--csv|--yaml|--tsv|--ndjson|--table', '*', 'use -o FORMAT, such as -o csv'],
  ['--jq|--query|--template', '*', 'pipe JSON to jq: imgctl images list --json | jq'],
  ['--context|--account', '*', 'use --profile NAME'],
  ['--insecure|--no-verify-ssl|--skip-tls-verify|--no-check-certificate', '*', TRUST],
  [
    '--cacert|--ca-cert|--ca-bundle|--certificate-authority',
    '*',
    'use: imgctl config set ca-file FILE',
  ],
  ['--proxy', '*', 'set the variable HTTPS_PROXY'],
  ['--max-time|--connect-timeout|--request-timeout|--cli-read-timeout', '*', 'use --timeout 30s'],
  ['--no-color', '*', 'use --color never'],
  ['--no-pager|--no-cli-pager', '*', 'omit it: there is no pager'],
  [
    '-y|--yes|--assume-yes|--no-input|--auto-approve',
    '*',
    'omit it: no command asks for confirmation',
  ],
  ['--silent', '*', 'use -q'],
  ['--verbose|-v|-vv|--trace', '*', 'use --debug to trace requests, or -V for the version'],
];

/** A noun between a verb and what it is for. */
const NOUN = /^(?:images?|profiles?|locks?)$/;

/** @param options those of the command. @param rest what was typed behind it */
export function guess(
  typed: string,
  path: string,
  options: readonly string[] = [],
  rest: readonly string[] = [],
): string | undefined {
  const isHere = (where: string) =>
    where === '*' || where === path || (where.startsWith('+') && options.includes(where.slice(1)));
  const general = typed.replace(/(?<= |^)\d+$/, '#');
  const row = GUESSES.find(
    ([words, places]) => words.split('|').includes(general) && places.split('|').some(isHere),
  );
  return row && fill(row[2], typed, rest);
}

/** Puts what was typed in the places of a hint, if it looks like it; options could have had a secret. */
function fill(say: string, typed: string, rest: readonly string[]): string {
  const isOption = typed.startsWith('-');
  const words = isOption ? [] : rest.filter((word, index) => index > 0 || !NOUN.test(word));
  const arePlain = words.every((word) => /^[\p{L}\p{N}][\p{L}\p{N}._:/ -]{0,59}$/u.test(word));
  const [first, ...others] = arePlain ? words : [];
  const quoted = (texts: readonly string[]) => texts.map(shellQuote).join(' ');
  const number = [typed.split(' ').at(-1), ...rest].find((word) => /^\d+$/.test(word ?? ''));
  const time = rest.find((word) => /^\d+[smhdwy]$|^\d{4}-\d\d-\d\d$/.test(word));
  const file = words.find((word) => /^[\w./-]+\.ov[af]$/i.test(word));
  const text = /\bNAME\b/.test(say) ? others : words;
  const values: Record<string, string | undefined> = {
    '#': number ?? '20',
    TIME: time ?? '30d',
    FILE: file,
    NAME: first && quoted([first]),
    ID: first && quoted(words),
    TEXT: first && text.length > 0 ? quoted(text) : undefined,
  };
  return say.replace(/#|\b[A-Z]{2,}\b/g, (place) => values[place] ?? place);
}
