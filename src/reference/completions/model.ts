// The command tree as the completion scripts need it: names, and the kind of each value.

import type { Argument, Command, Option } from 'commander';
import { kindOfValue, type ValueKind } from './values.ts';

/** A word that can be typed, with its meaning. */
export interface Entry {
  readonly word: string;
  readonly summary: string;
}

export interface OptionModel {
  /** `-o` and `--output`. */
  readonly flags: readonly string[];
  readonly summary: string;
  /** undefined where the option takes no value. */
  readonly value: ValueKind | undefined;
}

export interface CommandModel {
  /** The words that lead to it, by every alias: `images list`, `images ls`. The root has one that is empty. */
  readonly paths: readonly string[];
  readonly subcommands: readonly Entry[];
  readonly options: readonly OptionModel[];
  /** In their order. */
  readonly arguments: readonly ValueKind[];
  /** Whether the last argument may come again. */
  readonly isVariadic: boolean;
}

export interface CompletionModel {
  /** Options that go with every command. */
  readonly global: readonly OptionModel[];
  /** The root, with no options of its own, then all that is below it. */
  readonly commands: readonly CommandModel[];
}

export function completionModel(root: Command): CompletionModel {
  const [model, ...commands] = modelsBelow(root, ['']);
  if (!model) throw new Error('the tree has a root');
  return { global: model.options, commands: [{ ...model, options: [] }, ...commands] };
}

/** The command, then all that is below it. */
function modelsBelow(command: Command, paths: readonly string[]): readonly CommandModel[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const { registeredArguments } = command;
  const model: CommandModel = {
    paths,
    subcommands: subcommands.flatMap((each) =>
      namesOf(each).map((word) => ({ word, summary: each.summary() || each.description() })),
    ),
    options: help.visibleOptions(command).map(optionModel),
    arguments: registeredArguments.map((argument) => kindOfArgument(argument, paths[0] ?? '')),
    isVariadic: registeredArguments.at(-1)?.variadic === true,
  };
  const below = subcommands.flatMap((each) =>
    modelsBelow(
      each,
      paths.flatMap((path) => namesOf(each).map((name) => `${path} ${name}`.trim())),
    ),
  );
  return [model, ...below];
}

/** Each flag by itself, with what the option means. */
export function flagEntries(options: readonly OptionModel[]): readonly Entry[] {
  return options.flatMap(({ flags, summary }) => flags.map((word) => ({ word, summary })));
}

function namesOf(command: Command): readonly string[] {
  return [command.name(), ...command.aliases()];
}

function optionModel(option: Option): OptionModel {
  const flags = [option.short, option.long].filter((flag) => flag !== undefined);
  const placeholder = /<[^>]+>/.exec(option.flags)?.[0] ?? '';
  return {
    flags,
    summary: option.description,
    value: option.required ? kindOfValue([option.long ?? '', placeholder]) : undefined,
  };
}

/** The rules know an argument by the path of its command, by a word of that, or by its own name. */
function kindOfArgument(argument: Argument, path: string): ValueKind {
  const placeholder = `<${argument.name()}>`;
  const owners = [path, ...path.split(' ')].map((owner) => `${owner} ${placeholder}`);
  return kindOfValue([...owners, placeholder], argument.argChoices);
}
