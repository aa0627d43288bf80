// One run of the program: its options, settings and session, each created when it is first needed.

import { version } from '../package.json';
import type { CommandDeclaration } from './cli/declarations.ts';
import { Console, type ConsoleStyle, type Redaction } from './console.ts';
import { ImgctlError, valueOr } from './errors.ts';
import { checkName, findPaths, type Paths } from './files/paths.ts';
import type { Io } from './io.ts';
import { type ColorChoice, decideTerminal, type Terminal } from './output/terminal.ts';
import {
  createListWriter,
  type Format,
  type ListWriter,
  type PrintOptions,
  type Row,
  writeRecord,
} from './output/writers.ts';
import { incompatible, quoted, suggest } from './query/suggest.ts';
import { openSession, type Session, type SessionOptions } from './session/session.ts';
import {
  type ConfigFile,
  DEFAULT_PROFILE,
  readConfigFile,
  type SettingFlags,
  Settings,
} from './session/settings.ts';
import { describeEvent } from './session/trace.ts';

/** The options of every command, as commander parses them. */
export interface GlobalOptions {
  profile?: string | undefined;
  baseUrl?: string | undefined;
  output?: Format;
  json?: boolean;
  timeout?: string;
  retries?: string;
  waitForToken?: string;
  debug?: boolean;
  color?: ColorChoice;
  quiet?: boolean;
}

export class Context implements ConsoleStyle {
  readonly io: Io;
  readonly console: Console;
  readonly paths: Paths;
  options: GlobalOptions = {};
  #config: ConfigFile | undefined;
  #settings: Settings | undefined;
  #flags: SettingFlags = {};
  #session: Promise<Session> | undefined;

  /** The exit code of a command that does not fail. */
  exitCode = 0;
  /** Runs another command line with another Io, for the demo and for MCP. */
  readonly rerun: (argv: readonly string[], io: Io, redaction?: Redaction) => Promise<number>;
  /** The command table; set when the program is built. */
  commands: readonly CommandDeclaration[] = [];

  constructor(io: Io, rerun: Context['rerun'], redaction?: Redaction) {
    this.io = io;
    this.console = new Console(io, this, redaction);
    this.rerun = rerun;
    this.paths = findPaths(io.env, io.cwd, io.system.platform);
  }

  /** Receives the parsed options. @throws ImgctlError usage */
  useOptions(options: GlobalOptions): void {
    const { json, output = 'json' } = options;
    if (json && output !== 'json') throw incompatible('--json', `--output ${output}`);
    this.options = options;
  }

  get quiet(): boolean {
    return this.options.quiet === true;
  }

  get debug(): boolean {
    const { IMGCTL_DEBUG = '' } = this.io.env;
    const isOn = !['', '0', 'false', 'no', 'off'].includes(IMGCTL_DEBUG.toLowerCase());
    return this.options.debug === true || isOn;
  }

  /** @throws ImgctlError config: the file is unreadable */
  get config(): ConfigFile {
    this.#config ??= readConfigFile(this.paths.config);
    return this.#config;
  }

  get profileName(): string {
    const name = this.options.profile ?? (this.io.env.IMGCTL_PROFILE || undefined);
    return checkName(name ?? this.config.profile ?? DEFAULT_PROFILE, 'profile');
  }

  get settings(): Settings {
    this.#settings ??= this.settingsWith({});
    return this.#settings;
  }

  /** Adds flags of the command to the settings of this run. */
  addFlags(flags: SettingFlags): void {
    this.#flags = { ...this.#flags, ...flags };
    this.#settings = undefined;
  }

  /** Returns the settings with these additional flags. */
  settingsWith(flags: SettingFlags): Settings {
    const { baseUrl, json, output, timeout, retries, waitForToken } = this.options;
    const profile = this.profileName;
    const own = { timeout, retries, 'base-url': baseUrl, 'wait-for-token': waitForToken };
    return new Settings(
      profile,
      { ...own, output: json ? 'json' : output, ...this.#flags, ...flags },
      this.io.env,
      this.config.profiles.get(profile) ?? {},
      this.config.profile,
    );
  }

  get format(): Format {
    return this.settings.get('output');
  }

  /** Opens a list whose rows arrive gradually; the caller ends it. */
  openList(columns: readonly string[], options: PrintOptions = {}): ListWriter {
    return createListWriter({ ...this.#outputOptions(options), columns });
  }

  async printList(
    rows: readonly Row[],
    columns: readonly string[],
    options: PrintOptions = {},
  ): Promise<void> {
    const list = this.openList(columns, options);
    await list.write(rows);
    await list.end();
  }

  async printRecord(record: Row, options: PrintOptions = {}): Promise<void> {
    await writeRecord(this.#outputOptions(options), record);
  }

  #outputOptions({ format = this.format, summary, ...options }: PrintOptions) {
    return {
      ...options,
      format,
      sink: this.console.stdout,
      quiet: this.quiet,
      terminal: () => this.terminal,
      boxed: () => this.settings.find('table-style').text === 'box',
      footer: (hidden: readonly string[]) =>
        this.console.footer(summary?.(), hidden, options.trunc !== undefined),
    };
  }

  /** The format, or that of the flags if it is invalid: the errors of everything else need one. */
  get safeFormat(): Format {
    const { json, output = 'table' } = this.options;
    return valueOr(() => this.format, json ? 'json' : output);
  }

  get errorFormat(): ConsoleStyle['errorFormat'] {
    return { json: ['json', 'ndjson'].includes(this.safeFormat), debug: this.debug };
  }

  /** Colour and width of stdout. */
  get terminal(): Terminal {
    return decideTerminal(this.io.stdout, this.io.env, this.options.color);
  }

  get errorTerminal(): Terminal {
    return decideTerminal(this.io.stderr, this.io.env, this.options.color);
  }

  readonly version = version;
  readonly userAgent = `imgctl/${version}`;

  /** @throws ImgctlError config: unknown profile, no base URL, or invalid settings */
  session(): Promise<Session> {
    const { settings } = this;
    const { profile, loginCommand } = settings;
    const known = [...this.config.profiles.keys()];
    const isUnknown = known.length > 0 && !known.includes(profile);
    // Only a login creates a profile; other commands need one, or a base URL from elsewhere.
    if (isUnknown && settings.get('base-url') === undefined) {
      const hint = suggest(profile, known, 'imgctl profile list');
      throw new ImgctlError('config', `unknown profile ${quoted(profile)}`, {
        hint: `${hint} (to create it: ${loginCommand})`,
      });
    }
    this.#session ??= this.openSession(settings);
    return this.#session;
  }

  /** Opens a session with other settings; it is closed at the end of the run too. */
  async openSession(settings: Settings): Promise<Session> {
    const session = await openSession({
      io: this.io,
      settings,
      configDirectory: this.paths.config,
      userAgent: this.userAgent,
      warn: this.console.warn,
      note: this.console.note,
      onSecret: (secret) => this.console.redaction.add(secret, settings.find('username').text),
      onEvent: this.onEvent,
    });
    this.#closers.push(session.close);
    return session;
  }

  get onEvent(): SessionOptions['onEvent'] {
    return this.debug ? (event) => this.console.trace(describeEvent(event)) : undefined;
  }

  readonly #closers: (() => Promise<void>)[] = [];

  async close(): Promise<void> {
    for (const closer of this.#closers.reverse()) await closer();
    await this.console.settle();
  }
}
