// What people type who know other tools, and what to do instead.

const DELETE =
  'public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: imgctl sync';
const TRUST =
  'certificates are always verified; to trust a private one: imgctl config set ca-file FILE';

/**
 * Words or options as typed after a command; where (the path of that command, `*` for any, `+limit` for those with the
 * option --limit); and what to say. `|` separates. No advice is better than a wrong one.
 */
export const GUESSES: readonly (readonly [typed: string, where: string, say: string])[] = [
  ['list|ls|lst|get images', '', 'use: imgctl images list'],
  ['list|ls', 'my-images', 'use: imgctl my-images'],
  ['search|find', '|images', 'use: imgctl images list TEXT'],
  ['get|describe|view|show|info|inspect', '|images', 'use: imgctl images get ID'],
  ['get|describe|view|show|info', 'my-images', 'use: imgctl images get --mine ID'],
  ['latest|newest', '|images', 'use: imgctl images latest TEXT'],
  ['count|wc', '|images', 'use: imgctl images list -q | wc -l'],
  ['changes|diff|watch', '|images', 'use: imgctl images changes'],
  ['snapshot|export|save', '|images', 'use: imgctl images snapshot FILE'],
  ['lock|pin|hold', '|images', 'use: imgctl images lock add NAME TEXT'],
  ['rm|delete|unlock', 'images lock', 'use: imgctl images lock remove NAME'],
  ['get|show|view', 'images lock', 'use: imgctl images get --lock NAME'],
  ['create|new|set', 'images lock', 'use: imgctl images lock add NAME TEXT'],
  [
    'download|pull|install|fetch',
    '|images',
    'there is no download: the service deploys images itself',
  ],
  ['delete|remove|rm|rmi', '|images|my-images', DELETE],
  ['upgrade|update', '', 'upgrade imgctl the way you installed it: see the README'],
  ['upload|add|create|import|put|push|cp|s3|update', '|images|my-images', 'use: imgctl push FILE'],
  ['status|sync status', '', 'use: imgctl sync-status'],
  ['auth', '', 'use one of: imgctl login, imgctl whoami, imgctl token, imgctl logout'],
  ['run|ps|jobs', '', 'list sync requests with: imgctl sync-status --list'],
  ['context', '', 'use: imgctl profile list'],
  ['use-context|get-contexts|current-context', 'config', 'use: imgctl profile list'],
  ['view|show|--list', 'config', 'use: imgctl config list'],
  ['add|create|new', 'profile', 'use: imgctl login --profile NAME'],
  ['edit', 'config', 'use: imgctl config set KEY VALUE, or edit the file: imgctl config path'],
  ['log|logs', '', 'see: imgctl --help'],
  ['json|yaml|csv', 'help', 'see: imgctl help output'],
  [
    'cron|ci|unattended',
    'help',
    'for jobs, set a password file or command; see: imgctl login --help',
  ],
  ['--all|-a', '+limit', 'omit it: every image is listed unless you use --limit'],
  ['--count', '+limit', 'count ids with: imgctl images list -q | wc -l'],
  ['--watch|-w', '+limit', 'show what changed with: imgctl images changes'],
  ['--name|--search', '+filter', 'words search names: imgctl images list TEXT'],
  ['--folder', '+filter', 'use -f folder=NAME'],
  ['--exclude|--not', '+filter', "use -f 'name!~TEXT'"],
  ['--before|--older-than|--until', '+filter', "use -f 'updated_on<30d'"],
  ['--desc|--reverse', '+sort', 'use -s FIELD,desc'],
  ['--since', 'images changes', 'use: imgctl images list --since 7d'],
  ['--get|-c|--columns', 'images changes', 'use: imgctl images changes --json | jq'],
  ['--url', 'images get', 'list URLs with: imgctl images list --urls'],
  ['--follow|--watch|-w', 'sync|sync-status', 'use --wait'],
  ['--wait', 'push', 'omit it: push waits by default'],
  ['--replace|--overwrite|--force', 'push', 'use --on-conflict replace; what is equal stays'],
  ['--url|--server|--host|--hostname', '*', 'use --base-url URL'],
  ['--token|--with-token', '*', 'no option takes a secret; set IMGCTL_TOKEN'],
  ['--password|-p', 'login', 'no option takes a secret; use --password-stdin or IMGCTL_PASSWORD'],
  ['--format', '*', 'use -o FORMAT, such as -o json'],
  ['--jq|--query|--template', '*', 'pipe JSON to jq: imgctl images list --json | jq'],
  ['--insecure', '*', TRUST],
  ['--no-color', '*', 'use --color never'],
  ['--verbose|-v', '*', 'use --debug to trace requests, or -V for the version'],
];

/** Returns what to say about a word or option. @param options those of the command */
export function guess(typed: string, path: string, options: readonly string[] = []) {
  const isHere = (where: string) =>
    where === '*' || where === path || (where.startsWith('+') && options.includes(where.slice(1)));
  return GUESSES.find(
    ([words, places]) => words.split('|').includes(typed) && places.split('|').some(isHere),
  )?.[2];
}
