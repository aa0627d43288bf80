// Usage errors that commander finds, in the words of imgctl, with hints for words of other tools.

import type { Command, CommanderError } from 'commander';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { incompatible, nearest } from '../query/suggest.ts';

/** What people type after imgctl, and what to do instead. No guess is better than a wrong one. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ...['list', 'get', 'latest', 'changes', 'snapshot', 'lock'].map(
    (name) => [name, `use: imgctl images ${name}`] as const,
  ),
  ['ls', 'use: imgctl images list'],
  ['lst', 'use: imgctl images list'],
  ['search', 'use: imgctl images list TEXT'],
  ['diff', 'use: imgctl images changes'],
  ['pin', 'use: imgctl images lock add NAME TEXT'],
  ['status', 'use: imgctl sync-status'],
  ['sync status', 'use: imgctl sync-status'],
  ['upload', 'use: imgctl push FILE'],
  ['auth login', 'use: imgctl login'],
  ['auth logout', 'use: imgctl logout'],
  ['auth status', 'use: imgctl whoami'],
  ['auth token', 'use: imgctl token'],
  ['images search', 'use: imgctl images list TEXT'],
  ['images show', 'use: imgctl images get'],
  ['images diff', 'use: imgctl images changes'],
  ['images pin', 'use: imgctl images lock add NAME TEXT'],
  ['images delete', 'remove its files from the storage, then run: imgctl sync'],
  ['images rm', 'remove its files from the storage, then run: imgctl sync'],
]);

const WORDS = 'list images whose name contains a text: imgctl images list TEXT';

/** Options of other tools; some make sense only for commands that have a certain option. */
const OPTIONS: ReadonlyMap<string, readonly [hint: string, beside?: string]> = new Map([
  ['--all', ['omit it: every image is listed unless you use --limit', 'limit']],
  ['--name', [WORDS, 'filter']],
  ['--folder', ['use -f folder,eq,NAME', 'filter']],
  ['--mine', ['use: imgctl my-images', 'filter']],
  ['--url', ['use --base-url URL']],
  ['--server', ['use --base-url URL']],
  ['--host', ['use --base-url URL']],
  ['--token', ['no option takes a secret; set IMGCTL_TOKEN']],
  ['--format', ['use -o FORMAT, such as -o json']],
  ['--jq', ['pipe JSON to jq: imgctl images list --json | jq']],
  [
    '--insecure',
    ['certificates are always verified; to trust another: imgctl config set ca-file FILE'],
  ],
  ['--no-color', ['use --color never']],
  ['--verbose', ['use --debug']],
  ['-v', ['use -V for the version, or --debug for a trace of the requests']],
  ['--password', ['no option takes a secret; use --password-stdin or IMGCTL_PASSWORD']],
]);

const BEFORE = 'put it after the command; only global options can come first: imgctl help options';

/** Commander repeats what it was given, however long. */
const MAX_MESSAGE = 200;

/** Converts commander's error: one line, the probable meaning as the hint, options without their values. */
export function usageError(
  error: CommanderError,
  command: Command,
  path: readonly string[],
): ImgctlError {
  const [first = ''] = error.message.replace(/^error: /, '').split('\n');
  const help = `${['imgctl', ...path].join(' ')} --help`;
  const fail = (message: string, hint = `see: ${help}`) =>
    new ImgctlError('usage', message, { hint });
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  if (option !== undefined) return fail(...explainOption(option, command));
  const [, one, other] = /'.*(--[\w-]+).*' cannot be used with .*(--[\w-]+)/.exec(first) ?? [];
  if (one !== undefined && other !== undefined) return incompatible(one, other);
  const incomplete = /^option '(?:-., )?(\S+) .*' argument missing/.exec(first)?.[1];
  if (incomplete !== undefined) {
    const hint = command.parent ? undefined : 'see: imgctl help options';
    return fail(`option '${incomplete}' needs a value`, hint);
  }
  if (error.code === 'commander.missingArgument') {
    return fail(first, `use: ${['imgctl', ...path, command.usage()].join(' ')}`);
  }
  if (error.code === 'commander.excessArguments') {
    const { length } = command.registeredArguments;
    const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
    const meant = COMMANDS.get([...path, ...command.args].join(' '));
    return fail(`${path.join(' ')} takes ${limit} (got ${command.args.length})`, meant);
  }
  const message = first.replace(/\.$/, '').slice(0, MAX_MESSAGE);
  return fail(
    message,
    error.code === 'commander.unknownCommand' ? guess(command, path) : undefined,
  );
}

/** Returns the command that was probably meant. */
function guess(command: Command, path: readonly string[]): string | undefined {
  const words = command.args.filter((word) => !word.startsWith('-'));
  const known = [1, 2].map((count) => COMMANDS.get([...path, ...words.slice(0, count)].join(' ')));
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());
  const meant = nearest(words[0] === 'ls' ? 'list' : (words[0] ?? ''), names);
  const didYouMean = meant && `did you mean ${['imgctl', ...path, meant].join(' ')}?`;
  return known[0] ?? known[1] ?? didYouMean;
}

/** Commander also calls an option unknown if it takes no value. */
function explainOption(
  option: string,
  command: Command,
): [message: string, hint: string | undefined] {
  const page = command.createHelp();
  const options = [...page.visibleOptions(command), ...page.visibleGlobalOptions(command)];
  const known = options.flatMap(({ long }) => long?.slice(2) ?? []);
  const name = option.slice(2);
  const didYouMean = (meant: string | undefined) => meant && `did you mean --${meant}?`;
  if (known.includes(name)) {
    const longer = known.find((each) => each.startsWith(`${name}-`));
    return [`option '${option}' takes no value`, didYouMean(longer)];
  }
  const [guess, beside] = OPTIONS.get(option) ?? [];
  const fits = beside === undefined || known.includes(beside);
  // Without dashes, which would make short names look alike.
  const hint = (fits && guess) || didYouMean(nearest(name, known));
  return [`unknown option '${option}'`, hint ?? (command.parent ? undefined : BEFORE)];
}
