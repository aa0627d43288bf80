// Parses a command line up to the cursor: which command it is, and what can follow.

import type {
  CommandDeclaration,
  OptionDeclaration,
  ProgramDeclaration,
  Value,
} from '../../declarations.ts';

export interface Position {
  /** The subcommands that can follow; empty if something else must follow. */
  readonly subcommands: readonly CommandDeclaration[];
  readonly options: readonly OptionDeclaration[];
  readonly value: Value | undefined;
  /** Arguments before the cursor. */
  readonly rest: readonly string[];
  /** True after `--`. */
  readonly ended: boolean;
  /** The text before the value in the same word: `--output=`, `-o`. */
  readonly lead: string;
  readonly typed: string;
  /** Values of --profile and --base-url, by the names of the parsed options. */
  readonly scope: { readonly profile?: string; readonly baseUrl?: string };
}

const SCOPE: ReadonlyMap<string, 'profile' | 'baseUrl'> = new Map([
  ['--profile', 'profile'],
  ['--base-url', 'baseUrl'],
]);

/** Parses `words`, those before the cursor without the program, and `current`, the word up to the cursor. */
export function readLine(
  program: ProgramDeclaration,
  words: readonly string[],
  current: string,
): Position {
  let command: Partial<CommandDeclaration> = { subcommands: program.commands };
  let pending: OptionDeclaration | undefined;
  let ended = false;
  const rest: string[] = [];
  const used = new Set<OptionDeclaration>();
  const scope: { profile?: string; baseUrl?: string } = {};
  const optionsHere = () => [...(command.options ?? []), ...program.options];
  const take = (option: OptionDeclaration, value: string) => {
    const name = SCOPE.get(flagsOf(option).at(-1) ?? '');
    if (name !== undefined) scope[name] = value;
  };
  for (const word of words) {
    if (pending) {
      take(pending, word);
      pending = undefined;
    } else if (!ended && word === '--') ended = true;
    else if (!ended && /^-./.test(word)) {
      const { given, lead } = readOptions(word, optionsHere());
      for (const option of given) used.add(option);
      const last = given.at(-1);
      if (last && lead === word && !word.endsWith('=')) pending = last;
      else if (last && lead !== undefined) take(last, word.slice(lead.length));
    } else {
      const candidates = ended || rest.length > 0 ? [] : visible(command);
      const found = candidates.find((each) => namesOf(each).includes(word));
      if (found) command = found;
      else rest.push(word);
    }
  }
  const position = { subcommands: [], options: [], rest, ended, lead: '', typed: current, scope };
  if (pending) return { ...position, value: pending.value };
  if (!ended && current.startsWith('-')) {
    const { given, lead } = readOptions(current, optionsHere());
    if (lead !== undefined && (lead !== current || current.endsWith('='))) {
      return { ...position, value: given.at(-1)?.value, lead, typed: current.slice(lead.length) };
    }
    const options = optionsHere().filter((option) => option.repeatable || !used.has(option));
    return { ...position, options, value: undefined };
  }
  const subcommands = ended || rest.length > 0 ? [] : visible(command);
  const declared = command.arguments ?? [];
  const last = declared.at(-1);
  const argument = declared[rest.length] ?? (last?.variadic ? last : undefined);
  return { ...position, subcommands, value: argument?.value };
}

/** Returns the options in a word with a dash. If the last one takes a value, `lead` is the text before it. */
function readOptions(
  word: string,
  options: readonly OptionDeclaration[],
): { readonly given: readonly OptionDeclaration[]; readonly lead?: string } {
  const find = (flag: string) => options.filter((option) => flagsOf(option).includes(flag));
  if (word.startsWith('--')) {
    const [flag = ''] = word.split('=', 1);
    const given = find(flag).slice(0, 1);
    return given[0]?.value ? { given, lead: word.slice(0, flag.length + 1) } : { given };
  }
  const given: OptionDeclaration[] = [];
  for (let index = 1; index < word.length; index += 1) {
    const [option] = find(`-${word[index]}`);
    if (option) given.push(option);
    if (option?.value) return { given, lead: word.slice(0, index + 1) };
  }
  return { given };
}

/** `['-o', '--output']` */
export function flagsOf({ flags }: OptionDeclaration): readonly string[] {
  return (flags.split(' <')[0] ?? '').split(', ');
}

type Named = Pick<CommandDeclaration, 'name' | 'aliases'>;

export function namesOf({ name, aliases = [] }: Named): readonly string[] {
  return [name, ...aliases];
}

export function visible({
  subcommands = [],
}: Partial<CommandDeclaration>): readonly CommandDeclaration[] {
  return subcommands.filter(({ hidden }) => !hidden);
}
