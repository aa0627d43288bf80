// Random command lines and their users.

import { CANARIES } from './originals.ts';
import type { Random } from './random.ts';

export const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'] as const;

export interface Case {
  readonly argv: readonly string[];
  readonly format: (typeof FORMATS)[number];
  readonly env: Readonly<Record<string, string>>;
  /** True if there is a folder for settings, tokens and history. */
  readonly hasFolder: boolean;
  /** The width of the terminal, or undefined for a pipe. */
  readonly columns: number | undefined;
}

/** The formats that --meta takes. */
const STRUCTURED = ['json', 'yaml'] as const;

const LISTING: readonly string[] = [
  ...['', '--limit 7', '-s name,desc', '-s updated_on,desc -s id', '-f name,like,%a%'],
  ...['-f updated_on,ge,-3650d -f public,eq,true', '--columns all --time age'],
  ...['--time iso --no-header', '--meta', 'ubuntu --fail-empty'],
];

const CATALOGUE: readonly string[] = [
  ...[...LISTING, '--urls', '--urls --limit 5 -s name', '--urls -f id,gt,3 a'],
  ...['--page 2', '--page 1 -s name,desc', '--page 2 -f id,gt,3'],
];
const WAITING = ['--wait --wait-timeout 3m', '--wait --poll-interval 20s --wait-timeout 5m'];

const API = [
  ...['/v2/image -f per_page=10 --paginate', '/v2/image -f per_page=5 -f expand=1 --paginate -i'],
  ...['/v2', '/v2/image/3 -i', '/v2/user/image/vm -X PATCH', '/v2/image -X HEAD -i'],
];

const COMMANDS: readonly ((random: Random) => string)[] = [
  () => 'login',
  () => 'whoami --check',
  (random) => list(random),
  (random) => list(random),
  (random) => `images get ${random.pick(['7', 'no-such-image', '3 4'])}`,
  (random) => `my-images ${random.pick(LISTING)}`,
  (random) => `sync ${random.pick(['', '--dry-run', ...WAITING])}`,
  (random) => `sync-status 1 ${random.pick(['', ...WAITING])}`,
  (random) => `api ${random.pick(API)}`,
];

function list(random: Random): string {
  const perPage = random.pick(['3', '10', '100']);
  return `images list --per-page ${perPage} ${random.pick(CATALOGUE)}`;
}

export function pickCase(random: Random): Case {
  const command = random.pick(COMMANDS)(random).split(' ').filter(Boolean);
  const format = random.pick(command.includes('--meta') ? STRUCTURED : FORMATS);
  const { username, password, token } = CANARIES;
  const withPassword = command[0] === 'login' || random.chance(0.4);
  return {
    argv: [
      ...command,
      ...['-o', format, '--retries', String(random.below(3)), '--timeout', '10s'],
      ...(random.chance(0.1) ? ['--debug'] : []),
      ...(!command.includes('--columns') && random.chance(0.1) ? ['-q'] : []),
    ],
    format,
    env: withPassword
      ? { IMGCTL_USERNAME: username, IMGCTL_PASSWORD: password }
      : { IMGCTL_TOKEN: token },
    hasFolder: random.chance(0.5),
    columns: random.chance(0.3) ? random.pick([20, 80, 200]) : undefined,
  };
}
