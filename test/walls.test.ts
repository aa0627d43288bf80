// Checks the walls between the folders of src: imports, no import cycles, no hidden inputs; and what commands declare.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { UNLISTED } from '../src/cli/command-types.ts';
import { ALL_GLOBAL_OPTIONS } from '../src/cli/global-options.ts';
import { optionName } from '../src/cli/option-values.ts';
import { COMMANDS } from '../src/commands/index.ts';
import { SETTING_KEYS } from '../src/config/definitions.ts';
import { leavesOf } from './support/commands.ts';

const SOURCE = path.join(import.meta.dirname, '../src');

const LEAVES = leavesOf().map(([, command]) => command);

/** Shared options conflict with some that not every command has. */
const NAMES = LEAVES.flatMap(({ options = [] }) => options.map(optionName));

/** What each folder or file of src may import besides itself. */
const ALLOWED: Readonly<Record<string, string>> = {
  'main.ts': 'cli commands console.ts context.ts errors.ts io.ts process-io.ts query words.ts',
  'context.ts':
    'api cli config console.ts errors.ts facts.ts files io.ts output query session choices.ts spelling.ts words.ts',
  'console.ts': 'errors.ts facts.ts io.ts output',
  'errors.ts': 'facts.ts words.ts',
  'facts.ts': '',
  'abort.ts': '',
  'io.ts': 'errors.ts',
  'process-io.ts': 'abort.ts errors.ts io.ts zone.ts',
  'zone.ts': '',
  'json.ts': 'errors.ts',
  'choices.ts': 'errors.ts facts.ts spelling.ts words.ts',
  'spelling.ts': '',
  'words.ts': '',
  'chunks.ts': '',
  'xml.ts': '',
  cli: 'config context.ts errors.ts facts.ts io.ts output query choices.ts spelling.ts words.ts',
  commands:
    'api catalogue cli config context.ts errors.ts facts.ts files io.ts json.ts mcp output ovf query secrets session choices.ts spelling.ts upload words.ts',
  library:
    'api catalogue config errors.ts facts.ts http io.ts output query session choices.ts spelling.ts words.ts',
  catalogue: 'api errors.ts query',
  config: 'errors.ts facts.ts files http io.ts json.ts query choices.ts spelling.ts words.ts',
  secrets: 'abort.ts config errors.ts facts.ts files io.ts json.ts words.ts',
  session:
    'api config errors.ts facts.ts files http io.ts json.ts secrets choices.ts spelling.ts words.ts',
  api: 'abort.ts errors.ts facts.ts http json.ts words.ts',
  http: 'abort.ts errors.ts facts.ts words.ts',
  upload: 'chunks.ts errors.ts facts.ts files http io.ts json.ts words.ts xml.ts',
  files: 'abort.ts errors.ts facts.ts io.ts json.ts',
  mcp: 'errors.ts output query choices.ts spelling.ts',
  query: 'errors.ts facts.ts json.ts choices.ts spelling.ts words.ts',
  output: 'errors.ts facts.ts io.ts json.ts query choices.ts spelling.ts',
  ovf: 'chunks.ts words.ts xml.ts',
  emulator: 'errors.ts ovf query xml.ts',
};

/** Additional imports of single files or folders. */
const EXCEPTIONS: readonly (readonly [file: RegExp, target: RegExp])[] = [
  [/^commands\/(automation\/emulator|start\/demo)\.ts$/, /^emulator\//],
  // It looks at the connection itself.
  [/^commands\/automation\/api\.ts$/, /^http\//],
  [/^config\/definitions\.ts$/, /^output\/(columns|formats)\.ts$/],
  [/^emulator\//, /^api\/types\.ts$/],
];

/** Modules that a folder must not import: those of the terminal, the network, the disk. */
const TERMINAL =
  'node:tty|node:readline|node:child_process|node:process|conf|chalk|ora|cli-table3|commander';
const NETWORK = 'node:net|node:tls|node:http|node:https|undici';
const FORBIDDEN: Readonly<Record<string, string>> = {
  query: `node:.*|${TERMINAL}|${NETWORK}`,
  api: `node:.*|${TERMINAL}|${NETWORK}`,
  ovf: `${TERMINAL}|${NETWORK}`,
  catalogue: `node:.*|${TERMINAL}|${NETWORK}`,
  http: `node:fs|${TERMINAL}`,
  library: `node:fs|${TERMINAL}`,
  emulator: `${TERMINAL}|undici`,
  output: `node:fs|node:child_process|node:process|conf|commander|${NETWORK}`,
};

/** Files that compare `now()` with a stored time. All others measure with `elapsed()`, as the clock may be set. */
const OF_STORED_TIMES = [
  // What tokens, limits, snapshots and files of storages say.
  'commands/automation/token.ts',
  'commands/images/read.ts',
  'commands/packages/sync/sync-status.ts',
  'commands/start/login.ts',
  'commands/start/whoami.ts',
  'session/redis-account.ts',
  'session/cached-token.ts',
  'session/token-requests.ts',
  'session/tokens.ts',
  'upload/dav-folder.ts',
  'upload/folder.ts',
  'upload/upload-file.ts',
  // Times of responses, images and certificates.
  'http/headers.ts',
  'ovf/signature.ts',
  'query/time-format.ts',
  'query/time-value.ts',
  'words.ts',
];

/** A sum, a difference or a comparison of `now()` or of a variable `now`, or another variable with its value. */
const MEASURED =
  /\bnow\b(\(\))? ([-+<>]|[!=]=)|( [-+]|[^=]>|<|[!<=>]=) \(*([\w#]+\.)*now\b|\b(?!now\b)\w+ = ([\w#]+\.)*now\(\);/;

const texts = new Map(
  fs
    .readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => [file, fs.readFileSync(path.join(SOURCE, file), 'utf8')]),
);

const importsOf = (file: string): string[] =>
  [...(texts.get(file) ?? '').matchAll(/(?:\bfrom|\bimport\(|^import)\s*'([^']+)'/gm)].map(
    ([, name = '']) =>
      name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name,
  );

/** An import that is no import(), with its names and the module. Types alone are no import in the built program. */
const STATIC_IMPORT = /^(?:import|export) (?!type\b)([^;'(=]*?) from '([^']+)';/gm;

const dashed = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const partOf = (file: string): string => file.split('/')[0] ?? '';

describe.each([...texts])('src/%s', (file, text) => {
  const part = partOf(file);

  it('imports only what it may', () => {
    const forbidden = new RegExp(`^(${FORBIDDEN[part] ?? '$'})(/|$)`);
    const wrong = importsOf(file).filter((target) => {
      if (target === '../package.json') return false;
      if (!texts.has(target)) return forbidden.test(target);
      if ([part, ...(ALLOWED[part] ?? '').split(' ')].includes(partOf(target))) return false;
      return !EXCEPTIONS.some(([from, to]) => from.test(file) && to.test(target));
    });
    expect(wrong).toEqual([]);
  });

  it('takes process and clock from its caller', () => {
    // What tells Node how to compile is part of no run.
    const ofNode = ['stored-code.ts', 'http/compile-parser.ts'];
    if (['main.ts', 'io.ts', 'process-io.ts', ...ofNode].includes(file)) return;
    const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    expect(code).not.toMatch(
      /\bprocess\.|\bDate\.now\b|\bnew Date\(\)|performance\.now|Math\.random/,
    );
  });
});

it('only files that compare with stored times calculate with now()', () => {
  const files = [...texts].flatMap(([file, text]) => {
    const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    // The emulator's own clock is never set.
    return partOf(file) !== 'emulator' && MEASURED.test(code) ? [file] : [];
  });
  expect(files.filter((file) => !OF_STORED_TIMES.includes(file))).toEqual([]);
});

/** They say what is wrong, and the program what to do about it. */
const LOWER_ROOMS =
  'api http query catalogue session secrets upload ovf files library json.ts xml.ts';

/** Of commands, options, variables and settings, unless code reads them. */
const OF_PROGRAM = [
  `\\bimgctl (${COMMANDS.map(({ name }) => name).join('|')})\\b`,
  `--(${[...NAMES, ...ALL_GLOBAL_OPTIONS.map(optionName)].map(dashed).join('|')})\\b`,
  '(?<![.^])IMGCTL_',
  ...SETTING_KEYS.filter((key) => key.includes('-')).map((key) => ` ${key}\\b|\\b${key} `),
];

it.each(LOWER_ROOMS.split(' '))('texts of src/%s name nothing of the program', (room) => {
  const own = [...texts].filter(([file]) => partOf(file) === room);
  const lines = own.flatMap(([, text]) => text.replace(/^\s*(\/\/|\/?\*).*$/gm, '').split('\n'));
  const wrong = new RegExp(OF_PROGRAM.join('|'));
  expect(own).not.toEqual([]);
  expect(lines.filter((line) => wrong.test(line))).toEqual([]);
});

it('hints have commands as values, which are printed for the profile and service of their run', () => {
  const names = COMMANDS.map(({ name }) => name).join('|');
  const asText = new RegExp(`(facts( =|:)\\s*['\`]|hint\`)[^'\`\\n]*\\bimgctl (${names})\\b`);
  const program = [...texts].filter(([file]) => partOf(file) !== 'emulator');
  expect(program.filter(([, text]) => asText.test(text)).map(([file]) => file)).toEqual([]);
});

it('src has no import cycles', () => {
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const at = trail.indexOf(file);
    if (at >= 0) cycles.push([...trail.slice(at), file].join(' -> '));
    if (at >= 0 || done.has(file)) return;
    for (const target of importsOf(file)) if (texts.has(target)) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const file of texts.keys()) visit(file, []);
  expect(cycles).toEqual([]);
});

it('the program starts without the libraries that only some commands need', () => {
  const reached = new Set(['main.ts']);
  for (const file of reached) {
    for (const [, names = '', name = ''] of (texts.get(file) ?? '').matchAll(STATIC_IMPORT)) {
      if (/^\{\s*(type \w+,?\s*)*\}$/.test(names)) continue;
      reached.add(name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name);
    }
  }
  const packages = [...reached].filter((name) => !texts.has(name) && !name.startsWith('node:'));
  expect(packages.sort()).toEqual(['../package.json', 'commander', 'lossless-json']);
});

it.each(
  COMMANDS.filter(({ group }) => group !== UNLISTED).map(({ name, group = '' }) => [name, group]),
)('src/commands has %s in the folder of its heading in the help, %s', (name, group) => {
  const [folder = ''] = group.toLowerCase().split(' ');
  const own = [...texts].filter(([file]) => file.startsWith(`commands/${folder}/`));
  expect(own.map(([, text]) => text).join()).toMatch(new RegExp(`\\bname: '${name}',`));
});

describe.each(LEAVES.map((command) => [command.name, command] as const))(
  'the command %s',
  (_name, { fields = [], options = [] }) => {
    it('declares options with valid defaults, which conflict only with options that exist', () => {
      for (const { flags, value, default: text } of [...options, ...ALL_GLOBAL_OPTIONS]) {
        if (text !== undefined) expect(() => value?.parse(text, flags)).not.toThrow();
      }
      for (const { conflicts = [], implies = {} } of options) {
        expect(NAMES).toEqual(expect.arrayContaining([...conflicts, ...Object.keys(implies)]));
      }
    });

    it('declares what each of its columns means', () => {
      for (const each of fields) expect(Object.values(each)).not.toContain('');
    });
  },
);
