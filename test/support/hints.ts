// Checks each hint that a test meets: its commands parse, and work in the profile and service of their run.

import { appendFileSync } from 'node:fs';
import { expect } from 'vitest';
import { readCommandLine } from '../../src/cli/command-line.ts';
import type { CommandDeclaration } from '../../src/cli/command-types.ts';
import { optionName } from '../../src/cli/option-values.ts';
import { readTyped } from '../../src/cli/typed.ts';
import { COMMANDS } from '../../src/commands/index.ts';
import { NO_CONFIG, readConfigFile } from '../../src/config/config-file.ts';
import { findPaths } from '../../src/config/paths.ts';
import { settle } from '../../src/config/settings.ts';
import { tryOr } from '../../src/errors.ts';
import type { Io } from '../../src/io.ts';

/** Returns the hints of what a run wrote to stderr: of an error, and of notices. */
export function hintsIn(stderr: string): string[] {
  if (!stderr.includes('hint')) return [];
  return stderr.split('\n').flatMap((line) => {
    const [, text] = /^hint: (.*)/.exec(line) ?? [];
    if (text !== undefined) return [text];
    const record = line.startsWith('{') ? tryOr(() => JSON.parse(line), {}) : {};
    const hints = Object.values(record).map((notice) => Object(notice).hint);
    return hints.filter((hint) => typeof hint === 'string');
  });
}

/** Ends a command in a text: what follows is not for imgctl. */
const END = /[;,)|?]$|^(\||or|then|and|\(.*)$/;

/** Returns the words of each command of imgctl in a text, as a shell splits them. */
export function commandsIn(text: string): string[][] {
  return [
    ...text.matchAll(
      /\bimgctl (?=[a-z-])(?!the |lists,|does |has |from |is |it |can |cannot |or |to )/g,
    ),
  ].map(({ index }) => {
    const words: string[] = [];
    const rest = text.slice(index + 'imgctl '.length);
    for (const [typed] of rest.matchAll(/(?:'[^']*'|"[^"]*"|\\'|[^\s'"\\])+/g)) {
      if (/^(\||or|then|and|\()/.test(typed)) break;
      const isLast = END.test(typed);
      words.push(typed.replace(/[;,)?]+$/, '').replace(/\$?'([^']*)'|"([^"]*)"|\\(')/g, '$1$2$3'));
      if (isLast) break;
    }
    return words;
  });
}

/** Fails if a hint of the run has a command that does not parse, or that would use another profile or service. */
export function expectHints(
  argv: readonly string[],
  io: Io,
  { stderr, exitCode }: { readonly stderr: string; readonly exitCode: number },
): void {
  // It may fail for any profile.
  const isOfAll = argv.includes('logout') && argv.includes('--all');
  for (const hint of hintsIn(stderr)) {
    const { HINTS_FILE: file } = process.env;
    if (file) appendFileSync(file, `${JSON.stringify({ argv, exitCode, hint })}\n`);
    for (const words of commandsIn(hint)) {
      const shown = `the hint "${hint}" of imgctl ${argv.join(' ')}`;
      expect(problemOf(words, /^(did you mean|use:) /.test(hint)), shown).toBeUndefined();
      if (usesProfile(words) && !isOfAll) {
        const wanted = profileOf(argv, io);
        const found = profileOf(words, io);
        // A change of settings is one of the profile, or of that of the service.
        if (words[0] === 'config' && wanted?.replacedUrl === undefined) {
          expect(found?.profile, shown).toBe(wanted?.profile);
        }
        // A login to another service than that of the profile uses another profile.
        const isNew =
          words[0] === 'login' && words.some((word) => /^(--base-url|NAME)$/.test(word));
        const isOther =
          words[0] === 'login' && (wanted?.replacedUrl !== undefined || (isNew && !wanted?.url));
        if (wanted && !isOther && words[0] !== 'config')
          expect([found?.profile, found?.url], shown).toEqual([wanted.profile, wanted.url]);
      }
    }
  }
}

/** @param isName if a command is only named, without its arguments */
function problemOf(words: readonly string[], isName: boolean): string | undefined {
  // Usage has names of arguments in brackets.
  if (words.includes('--help') || words[0] === 'help' || words.some((word) => /^[[<]/.test(word))) {
    return undefined;
  }
  const { command, words: typed, args } = readTyped(COMMANDS, words);
  if (command.run === undefined) return `no command: ${words.join(' ')}`;
  const unknown = typed.find(({ kind, text }) => kind === 'argument' && /^--?[a-z]/.test(text));
  if (unknown) return `unknown option ${unknown.text}`;
  const declared = command.arguments ?? [];
  const required = declared.filter((each) => each.required).length;
  if (args.length < required && !isName) return `${args.length} of ${required} arguments`;
  if (args.length > declared.length && !declared.some((each) => each.variadic)) {
    return `${args.length} arguments instead of ${declared.length}`;
  }
  for (const { kind, text, option } of typed) {
    if (kind !== 'value' || /^[A-Z]+$/.test(text)) continue;
    const isValid = tryOr(() => {
      option?.value?.parse(text, optionName(option));
      return true;
    }, false);
    if (!isValid) return `invalid value ${text}`;
  }
  return undefined;
}

/** True if the command uses no profile: it sends no requests, and is not about settings. */
export function isLocal(path: readonly string[], { exitCodes = [] }: CommandDeclaration): boolean {
  const name = path.join(' ');
  return !exitCodes.includes(3) && !/^(config (?!path$)|mcp$)/.test(name);
}

/** A snapshot belongs to no profile. */
function usesProfile(words: readonly string[]): boolean {
  const { path, command } = readTyped(COMMANDS, words);
  return !isLocal(path, command) && !words.includes('--from') && !words.includes('--help');
}

/** Returns the profile of a command line, and its base URL. */
function profileOf(argv: readonly string[], io: Io) {
  const line = readCommandLine(argv, COMMANDS as readonly CommandDeclaration[], io);
  const config = tryOr(() => readConfigFile(findPaths(io).config, io), NO_CONFIG);
  return tryOr(() => {
    const settings = settle(config, io.env, line.profile, line.given);
    const { profile, replacedUrl } = settings;
    return { profile, replacedUrl, url: settings.find('base-url').text };
  }, undefined);
}
