// Usage errors that commander finds, in the words of imgctl, with hints for words of other tools.

import type { Command, CommanderError } from 'commander';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import { nearest } from '../query/suggest.ts';

/** What people type after imgctl, and what to do instead. No guess is better than a wrong one. */
const COMMANDS: ReadonlyMap<string, string> = new Map([
  ['list', 'use: imgctl images list'],
  ['ls', 'use: imgctl images list'],
  ['search', 'use: imgctl images list TEXT'],
  ['status', 'use: imgctl sync-status'],
  ['upload', 'use: imgctl push FILE'],
  ['pin', 'use: imgctl images lock'],
  ['auth login', 'use: imgctl login'],
  ['images search', 'use: imgctl images list TEXT'],
  ['images delete', 'images disappear when their upload is removed and synced'],
  ['images diff', 'use: imgctl images changes'],
]);

const WORDS = 'list images whose name contains a text: imgctl images list TEXT';

/** Options of other tools; some make sense only for commands that have a certain option. */
const OPTIONS: ReadonlyMap<string, readonly [hint: string, beside?: string]> = new Map([
  ['--all', ['omit it: every image is listed unless you use --limit', '--limit']],
  ['--name', [WORDS, '--filter']],
  ['--folder', ['use -f folder,eq,NAME', '--filter']],
  ['--mine', ['use: imgctl my-images', '--filter']],
  ['--format', ['use -o FORMAT, such as -o json']],
  ['--jq', ['pipe JSON to jq: imgctl images list --json | jq']],
  [
    '--insecure',
    ['certificates are always verified; trust another: imgctl config set ca-file FILE'],
  ],
  ['--no-color', ['use --color never']],
  ['--password', ['no option takes a secret; use --password-stdin or IMGCTL_PASSWORD']],
]);

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
  const option = /^unknown option '(--[^=']*|-.)/.exec(first)?.[1];
  if (option !== undefined) return optionError(option, command, help);
  const incomplete = /^option '(?:-., )?(\S+) .*' argument missing/.exec(first)?.[1];
  if (incomplete !== undefined) {
    return new ImgctlError('usage', `option '${incomplete}' needs a value`, {
      hint: `see: ${help}`,
    });
  }
  if (error.code === 'commander.excessArguments') {
    const { length } = command.registeredArguments;
    const limit = length === 0 ? 'no arguments' : `at most ${counted(length, 'argument')}`;
    return new ImgctlError(
      'usage',
      `${path.join(' ')} takes ${limit} (got ${command.args.length})`,
      {
        hint: `see: ${help}`,
      },
    );
  }
  const message = first.replace(/\.$/, '').slice(0, MAX_MESSAGE);
  const hint = error.code === 'commander.unknownCommand' ? commandHint(command, path) : undefined;
  return new ImgctlError('usage', message, { hint: hint ?? `see: ${help}` });
}

/** Returns the hint for a word that is no command. */
function commandHint(command: Command, path: readonly string[]): string | undefined {
  const words = command.args.filter((word) => !word.startsWith('-'));
  const guess = (typed: readonly string[]) => COMMANDS.get([...path, ...typed].join(' '));
  const exact = guess(words.slice(0, 1)) ?? guess(words.slice(0, 2));
  if (exact !== undefined) return exact;
  const names = command
    .createHelp()
    .visibleCommands(command)
    .map((each) => each.name());
  const meant = nearest(words[0] ?? '', names);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/** Commander also calls an option unknown if it takes no value. */
function optionError(option: string, command: Command, help: string): ImgctlError {
  const page = command.createHelp();
  const options = [...page.visibleOptions(command), ...page.visibleGlobalOptions(command)];
  const known = options.flatMap(({ long }) => long ?? []);
  if (known.includes(option)) {
    const longer = known.find((name) => name.startsWith(`${option}-`));
    return new ImgctlError('usage', `option '${option}' takes no value`, {
      hint: longer === undefined ? `see: ${help}` : `did you mean ${longer}?`,
    });
  }
  const [guess, beside] = OPTIONS.get(option) ?? [];
  const fits = guess && (beside === undefined || known.includes(beside));
  // Dashes would make short names look alike.
  const meant = nearest(
    option.slice(2),
    known.map((name) => name.slice(2)),
  );
  const near = meant === undefined ? `see: ${help}` : `did you mean --${meant}?`;
  return new ImgctlError('usage', `unknown option '${option}'`, { hint: fits ? guess : near });
}
