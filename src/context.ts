// One run of the program: its options, settings and session, each created when it is first needed.

import { version } from '../package.json';
import { incompatible, nearest, quoted } from './choices.ts';
import { SETTINGS, type SettingKey } from './config/definitions.ts';
import {
  type Account,
  type ConfigFile,
  DEFAULT_PROFILE,
  isUnknown,
  type Override,
  readConfigFile,
  Settings,
} from './config/settings.ts';
import { checkName, parseGiven, type Value } from './config/values.ts';
import { Console, type ConsoleStyle, type Redaction } from './console.ts';
import { attempt, ImgctlError, tryOr } from './errors.ts';
import { findPaths, type Paths } from './files/paths.ts';
import type { Io } from './io.ts';
import type { Format } from './output/formats.ts';
import { type ColorChoice, decideTerminal, type Terminal } from './output/terminal.ts';
import { type Column, type Layout, type Surface, View, type ViewOptions } from './output/view.ts';
import type { Row } from './output/writers.ts';
import { openSession, type Session, type SessionOptions } from './session/session.ts';
import { type CachedToken, TokenCache } from './session/token-cache.ts';
import { describeEvent } from './session/trace.ts';
import { describeDuration } from './words.ts';

/** Milliseconds: a shorter wait that a server asks for is not worth a line. */
const MIN_REPORTED_WAIT = 5_000;
/** Likewise, of a wait for a server that is down. */
const MIN_REPORTED_OUTAGE = 1_000;

interface GlobalOptions {
  profile?: string | undefined;
  output?: Format;
  json?: boolean;
  debug?: boolean;
  color?: ColorChoice;
  quiet?: boolean;
}

export class Context implements ConsoleStyle {
  readonly io: Io;
  readonly console: Console;
  options: GlobalOptions = {};
  #paths: Paths | undefined;
  #config: ConfigFile | undefined;
  #settings: Settings | undefined;
  readonly overrides = new Map<SettingKey, Override>();
  #session: Promise<Session> | undefined;

  /** The command line, without node and script. */
  argv: readonly string[] = [];
  exitCode = 0;
  /** Runs another command line with another Io, for the demo and for MCP. */
  readonly rerun: (argv: readonly string[], io: Io, redaction?: Redaction) => Promise<number>;

  constructor(io: Io, rerun: Context['rerun'], redaction?: Redaction) {
    this.io = io;
    this.console = new Console(io, this, redaction);
    this.rerun = rerun;
  }

  /** Receives the options that commander has parsed. @throws ImgctlError usage */
  readOptions(options: GlobalOptions): void {
    const { json, output = 'json' } = options;
    if (json && output !== 'json') throw incompatible('--json', `--output ${output}`);
    this.options = options;
    if (json) this.override('output', 'json', '--json');
  }

  get quiet(): boolean {
    return this.options.quiet === true;
  }

  get debug(): boolean {
    const { IMGCTL_DEBUG = '' } = this.io.env;
    const isOn = !['', '0', 'false', 'no', 'off'].includes(IMGCTL_DEBUG.toLowerCase());
    return this.options.debug === true || isOn;
  }

  /** @throws ImgctlError usage: IMGCTL_CONFIG_DIR is invalid */
  get paths(): Paths {
    this.#paths ??= findPaths(this.io.env, this.io.cwd, this.io.system.platform);
    return this.#paths;
  }

  /** @throws ImgctlError config: the file is unreadable */
  get config(): ConfigFile {
    this.#config ??= readConfigFile(this.paths.config, this.io);
    return this.#config;
  }

  /** For a command that needs no settings: warns of a file that cannot be used, and goes on without it. */
  allowNoConfig(): void {
    const { error } = attempt(() => this.config);
    if (!error) return;
    this.#config = readConfigFile(undefined, this.io);
    this.console.warn(error.message, error.hint);
  }

  get profileName(): string {
    const name = this.options.profile ?? (this.io.env.IMGCTL_PROFILE || undefined);
    return checkName(name ?? this.config.profile ?? DEFAULT_PROFILE, 'profile');
  }

  get settings(): Settings {
    const profile = this.profileName;
    this.#settings ??= new Settings(this.config, profile, this.io.env, this.overrides);
    return this.#settings;
  }

  /** Returns the value of an option; that of a setting overrides it in this run. @throws ImgctlError usage or config */
  parseOption(value: Value, setting: SettingKey | undefined, text: string, name: string): unknown {
    if (setting) return this.override(setting, text, name);
    return parseGiven(value, text, name, this.io.env);
  }

  /**
   * Overrides a setting in this run, and returns its value.
   * @param origin where it comes from, such as an option
   * @throws ImgctlError usage or config: it is invalid
   */
  override(key: SettingKey, text: string, origin = `--${key}`): unknown {
    const value = parseGiven(SETTINGS[key].value, text, origin, this.io.env);
    this.overrides.set(key, { text, value, origin });
    this.#settings = undefined;
    return value;
  }

  get format(): Format {
    return this.settings.get('output');
  }

  /** Decides what is printed and how, before anything is sent. @throws ImgctlError usage, config */
  view(columns: readonly Column[], options?: ViewOptions, layout?: Layout): View {
    const { console, io, quiet } = this;
    const { json, output } = this.options;
    if (options?.get !== undefined && (json || output)) {
      throw incompatible('--get', json ? '--json' : '--output');
    }
    const surface: Surface = {
      format: layout?.isTolerant ? this.safeFormat : this.format,
      sink: console.stdout,
      terminal: () => this.terminal,
      quiet,
      time: () => this.settings.get('time'),
      now: io.now,
      footer: console.footer,
      note: console.note,
    };
    return new View(surface, columns, options, layout);
  }

  /**
   * Prints the value of `key` alone, or with -o or --json the whole record. A format in the settings or the
   * environment does not count, since `$(imgctl token)` must be the token.
   */
  async printValue(columns: readonly Column[], record: Row, key: string): Promise<void> {
    const { json, output = json ? 'json' : 'table' } = this.options;
    if (output === 'table' || this.quiet) await this.console.print(`${record[key]}\n`);
    else await this.view(columns).printRecord(record);
  }

  /** The format, or that of the flags if it is invalid: the errors of everything else need one. */
  get safeFormat(): Format {
    const { json, output = 'table' } = this.options;
    return tryOr(() => this.format, json ? 'json' : output);
  }

  get errorFormat(): ConsoleStyle['errorFormat'] {
    return { json: ['json', 'ndjson'].includes(this.safeFormat), debug: this.debug };
  }

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
    // Only a login creates a profile; other commands need one, or a base URL from elsewhere.
    if (isUnknown(profile, this.config) && settings.get('base-url') === undefined) {
      const meant = nearest(profile, [...this.config.profiles.keys()]);
      throw new ImgctlError('config', `unknown profile ${quoted(profile)}`, {
        hint: `${meant ? `did you mean ${meant}? Otherwise, ` : ''}create it with: ${loginCommand}`,
      });
    }
    this.#session ??= this.openSession(settings);
    return this.#session;
  }

  /** Opens a session with other settings or tokens; it is closed at the end of the run too. */
  async openSession(settings: Settings, tokens?: SessionOptions['tokens']): Promise<Session> {
    const session = await openSession({ ...this.sessionOptions(settings), tokens });
    this.#closers.push(session.close);
    return session;
  }

  sessionOptions(settings: Settings): SessionOptions {
    const { console, io, paths, userAgent, onEvent } = this;
    const onSecret = (secret: string) =>
      console.redaction.add(
        secret,
        tryOr(() => settings.get('username'), undefined),
      );
    const { warn, report } = console;
    const { config: configDirectory } = paths;
    return { io, settings, configDirectory, userAgent, warn, report, onSecret, onEvent };
  }

  cachedToken(account: Account): CachedToken | undefined {
    return new TokenCache(this.paths.config, account, this.io, this.console.warn).read();
  }

  /** Until then, a line on stderr says why the run waits. */
  #reportedUntil = 0;

  readonly onEvent: NonNullable<SessionOptions['onEvent']> = (event) => {
    if (this.debug) this.console.trace(describeEvent(event));
    if (event.kind !== 'retry' && event.kind !== 'limit') return;
    const { wait, asked, url } = event;
    const now = this.io.now();
    // Requests that run at the same time wait for the same reason.
    if (now < this.#reportedUntil) return;
    const outage = event.kind === 'retry' ? event.outage : undefined;
    if (asked >= MIN_REPORTED_WAIT) {
      this.console.waiting(`${url.host} asks to wait ${describeDuration(asked)}`);
    } else if (outage && wait >= MIN_REPORTED_OUTAGE) {
      this.console.waiting(`${url.host} ${outage}; retrying in ${describeDuration(wait)}`);
    } else return;
    this.#reportedUntil = now + wait;
  };

  readonly #closers: (() => Promise<void>)[] = [];

  async close(): Promise<void> {
    for (const closer of this.#closers.reverse()) await closer();
    await this.console.flush();
  }
}
