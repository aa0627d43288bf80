// Guesses what users of other programs meant, such as hcloud, gh, docker, aws and openstack.

import { type Advice, hint, imgctl } from '../facts.ts';
import { findOption, type OptionDeclaration } from './command-types.ts';
import type { UnknownOption } from './typed.ts';

/**
 * Returns advice on words that are no command, or too many. It treats `images push` like `push`,
 * and `sync 41` like `sync ID`.
 */
export function guess(path: readonly string[], args: readonly string[]): Advice | undefined {
  const start = path[0] === 'images' ? path.slice(1) : path;
  for (const count of [2, 1, 0]) {
    const words = args.slice(0, count).map((word) => word.replace(/^\d+$/, 'ID'));
    const phrase = [...start, ...words].join(' ');
    const row = COMMAND_GUESSES.find(({ typed }) => typed.includes(phrase));
    if (row) return row.advice;
  }
  return undefined;
}

/** Returns advice on an option that the command does not have. */
export function guessOption({ flag, path, options }: UnknownOption): Advice | undefined {
  const phrases = [[...path, flag].join(' '), flag];
  const row = OPTION_GUESSES.find(({ typed }) => phrases.some((phrase) => typed.includes(phrase)));
  if (row) return row.advice;
  for (const { typed, meant, advice } of RENAMED_OPTIONS) {
    const option = findOption(options, meant);
    if (option && typed.includes(flag))
      return advice ?? `use ${withValue(option, meant).join(' ')}`;
  }
  return undefined;
}

/** Returns the words `--limit N`, or `--wait` for an option without a value. */
export function withValue({ flags }: OptionDeclaration, flag: string): readonly string[] {
  const [, placeholder] = /<(.+)>/.exec(flags) ?? [];
  return placeholder === undefined ? [flag] : [flag, placeholder.toUpperCase()];
}

interface Guess {
  readonly typed: readonly string[];
  readonly advice: Advice;
}

interface RenamedOption {
  readonly typed: readonly string[];
  readonly meant: string;
  readonly advice?: Advice;
}

const use = (...words: readonly string[]) => hint`use: ${imgctl(...words)}`;

export const SET_VARIABLE = hint`set a variable such as IMGCTL_PASSWORD, IMGCTL_TOKEN or HTTPS_PROXY; see: ${imgctl('help', 'environment')}`;

/** Commands, with the words that may follow. */
export const COMMAND_GUESSES: readonly Guess[] = [
  { typed: ['search', 'find'], advice: use('images', 'list', 'WORD') },
  { typed: ['inspect'], advice: use('images', 'get', 'ID') },
  {
    typed: ['diff', 'compare'],
    advice: hint`${use('images', 'get', 'ID', 'ID')}, or ${imgctl('images', 'changes')}`,
  },
  { typed: ['mine', 'my images'], advice: use('my-images') },
  { typed: ['save', 'export'], advice: use('images', 'snapshot', 'FILE') },
  {
    typed: ['delete', 'remove', 'rm', 'rmi', 'prune'],
    advice: hint`public images cannot be deleted; to delete one of yours, remove its file from the storage, then run: ${imgctl('sync')}`,
  },
  {
    typed: ['edit', 'rename', 'tag', 'update'],
    advice: hint`images cannot be changed; upload a new file with: ${imgctl('push', 'FILE', '--on-conflict', 'replace')}`,
  },
  {
    typed: ['upload', 'add', 'create', 'import', 'push', 'cp'],
    advice: use('push', 'FILE'),
  },
  { typed: ['status', 'wait', 'history', 'logs', 'sync status'], advice: use('sync-status') },
  { typed: ['sync ID'], advice: use('sync-status', 'ID') },
  { typed: ['sync'], advice: hint`to upload a file: ${imgctl('push', 'FILE')}` },
  {
    typed: ['auth', 'sso'],
    advice: hint`use: ${imgctl('login')}, or logout, token or whoami`,
  },
  {
    typed: ['login'],
    advice: hint`${use('login', '--username', 'USER')}, or with --base-url URL`,
  },
  {
    typed: ['configure', 'init'],
    advice: hint`${use('login')}, or ${imgctl('config', 'set', 'KEY', 'VALUE')}`,
  },
  {
    typed: ['context', 'profile create', 'profile add', 'profile new'],
    advice: hint`see: ${imgctl('profile', '--help')}, or create one: ${imgctl('login', '--profile', 'NAME')}`,
  },
  { typed: ['env'], advice: SET_VARIABLE },
  {
    typed: ['download', 'pull', 'run', 'server'],
    advice:
      'the service itself deploys images; imgctl lists, checks and uploads them, and downloads none',
  },
  { typed: ['api get', 'api GET'], advice: use('api', '/v2/image') },
];

/** Options, alone or after a command. */
export const OPTION_GUESSES: readonly Guess[] = [
  { typed: ['images list --private'], advice: use('my-images') },
  { typed: ['images changes --since'], advice: use('images', 'list', '--since', 'TIME') },
  { typed: ['config --get'], advice: use('config', 'get', 'KEY') },
  {
    typed: ['-y', '--yes', 'images list --public', 'push --wait', 'sync --no-wait'],
    advice: 'omit it: it is the default',
  },
  { typed: ['--jq', '--query', '--template'], advice: 'use --json, and pipe it to jq' },
  {
    typed: ['-v', '--verbose'],
    advice: 'use --debug to trace requests, or -V for the version',
  },
  {
    typed: ['--token', '--with-token', '--access-token', '--password', 'login -p', '--proxy'],
    advice: SET_VARIABLE,
  },
  {
    typed: ['-k', '--insecure', '--no-verify-ssl', '--cacert'],
    advice: hint`certificates are always verified; to trust a private authority: ${imgctl('config', 'set', 'ca-file', 'FILE')}`,
  },
  { typed: ['push --recursive', 'push --delete'], advice: 'name the files; push deletes none' },
  {
    typed: ['push --name', 'push --image-name'],
    advice: 'rename the file: an image has the name of its file',
  },
];

/**
 * Options that have another name here. A row counts only if the command has the option `meant`.
 * Without `advice`, the advice is to use that option.
 */
export const RENAMED_OPTIONS: readonly RenamedOption[] = [
  {
    typed: ['--name', '--os', '--search'],
    meant: '--filter',
    advice: 'type the words without an option: they match names',
  },
  {
    typed: ['-l', '--selector', '--label', '--where'],
    meant: '--filter',
    advice: hint`use -f FIELD=VALUE; see: ${imgctl('help', 'filters')}`,
  },
  {
    typed: ['-a', '--all'],
    meant: '--limit',
    advice: 'all images are listed; for fewer, use -n 100',
  },
  { typed: ['--until', '--before'], meant: '--since', advice: "use -f 'updated_on<TIME'" },
  { typed: ['-L', '--max-items', '--max-results', '--tail'], meant: '--limit' },
  { typed: ['--sort-by', '--order', '--desc', '--reverse', '-r'], meant: '--sort' },
  { typed: ['--format', '--csv', '--yaml'], meant: '--output' },
  { typed: ['--path'], meant: '--get', advice: 'use --get path' },
  { typed: ['-w', '--watch', '--follow'], meant: '--wait' },
  {
    typed: ['--overwrite', '--replace', '--force'],
    meant: '--on-conflict',
    advice: 'use --on-conflict replace',
  },
  { typed: ['--url', '--host', '--endpoint-url'], meant: '--base-url' },
  { typed: ['--context'], meant: '--profile' },
];
