// What people type who know other tools, and what to do instead.

const DELETE = 'remove its files from the storage, then run: imgctl sync';
const NO_DOWNLOAD = 'there is no download: the service deploys images itself';
const SHOW = 'use: imgctl images get';
const LIST = 'use: imgctl images list TEXT';
const LOCK = 'use: imgctl images lock add NAME TEXT';
const WORDS = 'search for names with: imgctl images list TEXT';
const NO_SECRET = 'no option takes a secret; use --password-stdin or IMGCTL_PASSWORD';
const URL = 'use --base-url URL';

/**
 * A word or option as typed after a command; where (the path of that command, `*` for any, `+limit` for those with
 * the option --limit); and what to say. No guess is better than a wrong one.
 */
const GUESSES: readonly (readonly [typed: string, where: string, say: string])[] = [
  ...['list', 'get', 'latest', 'changes', 'snapshot', 'lock'].map(
    (name) => [name, '', `use: imgctl images ${name}`] as const,
  ),
  ['ls', '', 'use: imgctl images list'],
  ['lst', '', 'use: imgctl images list'],
  ['image list', '', 'use: imgctl images list'],
  ['status', '', 'use: imgctl sync-status'],
  ['sync status', '', 'use: imgctl sync-status'],
  ['upload', '', 'use: imgctl push FILE'],
  ['context', '', 'use: imgctl profile'],
  ['upgrade', '', 'upgrade imgctl the way you installed it: see the README'],
  ['auth login', '', 'use: imgctl login'],
  ['auth logout', '', 'use: imgctl logout'],
  ['auth status', '', 'use: imgctl whoami'],
  ['auth token', '', 'use: imgctl token'],
  ...['', 'images'].flatMap((group) => [
    ...['describe', 'view', 'show', 'info'].map((verb) => [verb, group, SHOW] as const),
    ...['search', 'find'].map((verb) => [verb, group, LIST] as const),
    ...['download', 'pull'].map((verb) => [verb, group, NO_DOWNLOAD] as const),
    ['newest', group, 'use: imgctl images latest TEXT'] as const,
    ['count', group, 'use: imgctl images list -q | wc -l'] as const,
    ['diff', group, 'use: imgctl images changes'] as const,
    ['pin', group, LOCK] as const,
  ]),
  ...['', 'images', 'my-images'].flatMap((group) =>
    ['delete', 'remove', 'rm'].map((verb) => [verb, group, DELETE] as const),
  ),
  ['rm', 'images lock', 'use: imgctl images lock remove'],
  ['list', 'my-images', 'use: imgctl my-images'],
  ['get', 'my-images', SHOW],
  ['add', 'my-images', 'use: imgctl push FILE'],
  ['update', 'my-images', 'use: imgctl push FILE'],
  ['sync', 'my-images', 'use: imgctl sync'],
  ['add', 'profile', 'use: imgctl login --profile NAME'],
  ['create', 'profile', 'use: imgctl login --profile NAME'],
  ['edit', 'config', 'use: imgctl config set KEY VALUE, or edit the file: imgctl config path'],
  ['json', 'help', 'see: imgctl help output'],
  ['dates', 'help', 'see: imgctl help filters'],
  ['password', 'help', 'see: imgctl help environment'],
  ['upload', 'help', 'see: imgctl push --help'],
  ['cron', 'help', 'see: imgctl help exit-codes'],
  ['--all', '+limit', 'omit it: every image is listed unless you use --limit'],
  ['--name', '+filter', WORDS],
  ['--folder', '+filter', 'use -f folder,eq,NAME'],
  ['--exclude', '+filter', "use -f 'name!~TEXT'"],
  ['--not', '+filter', "use -f 'name!~TEXT'"],
  ['--mine', '+filter', 'use: imgctl my-images'],
  ['--since', 'images changes', 'use: imgctl images list --since 7d'],
  ['--file', 'images snapshot', 'use: imgctl images snapshot FILE'],
  ['--check', 'images lock', 'use: imgctl images lock check'],
  ['--url', 'images get', 'list URLs with: imgctl images list --urls'],
  ['--url', '*', URL],
  ['--server', '*', URL],
  ['--host', '*', URL],
  ['--token', '*', 'no option takes a secret; set IMGCTL_TOKEN'],
  ['--with-token', '*', 'no option takes a secret; set IMGCTL_TOKEN'],
  ['--password', '*', NO_SECRET],
  ['-p', 'login', NO_SECRET],
  ['--force', 'push', 'use --on-conflict replace; what is equal need not be sent again'],
  ['--format', '*', 'use -o FORMAT, such as -o json'],
  ['--jq', '*', 'pipe JSON to jq: imgctl images list --json | jq'],
  [
    '--insecure',
    '*',
    'certificates are always verified; to trust a private one: imgctl config set ca-file FILE',
  ],
  ['--no-color', '*', 'use --color never'],
  ['--verbose', '*', 'use --debug'],
  ['-v', '*', 'use -V for the version, or --debug for a trace of the requests'],
];

/** Returns what to say about a word or option. @param options those of the command */
export function guess(
  typed: string,
  path: string,
  options: readonly string[] = [],
): string | undefined {
  const fits = (where: string) =>
    where === '*' || where === path || (where.startsWith('+') && options.includes(where.slice(1)));
  return GUESSES.find(([word, where]) => word === typed && fits(where))?.[2];
}
