// One run of the program: what every command receives.

import { version } from '../package.json';
import type { ClientEvent } from './api/auth.ts';
import { describeEvent } from './api/trace.ts';
import { incompatible } from './choices.ts';
import { hintText } from './cli/hints.ts';
import { type ConfigFile, NO_CONFIG, readConfigFile } from './config/config-file.ts';
import { findPaths } from './config/paths.ts';
import {
  type Account,
  type GivenSettings,
  type Settings,
  settle,
  shownAddress,
} from './config/settings.ts';
import { Console, type ConsoleOptions } from './console.ts';
import { attempt, tryOr } from './errors.ts';
import { type Advice, setting } from './facts.ts';
import type { Io } from './io.ts';
import type { Column } from './output/columns.ts';
import { FORMATS, type Format } from './output/formats.ts';
import { Output, type OutputOptions } from './output/output.ts';
import type { Redaction } from './output/redaction.ts';
import { type ColorChoice, decideTerminal, type Terminal } from './output/terminal.ts';
import { FileStore } from './session/file-store.ts';
import { openSession, type Session, type SessionOptions } from './session/session.ts';
import { describeDuration } from './words.ts';

/** Milliseconds: a shorter wait that a server asks for is not worth a line. */
const MIN_REPORTED_WAIT = 5_000;
/** Likewise, of a wait for a server that is down. */
const MIN_REPORTED_OUTAGE = 1_000;

export const USER_AGENT = `imgctl/${version}`;

/** What a command line says about the run. */
export interface RunOptions {
  readonly profile?: string | undefined;
  readonly debug?: boolean | undefined;
  readonly color?: ColorChoice | undefined;
  readonly quiet?: boolean | undefined;
  /** The settings that its options give. */
  readonly given: GivenSettings;
  /** True if the command works without settings: if they cannot be read, it warns. */
  readonly needsNoSettings?: boolean | undefined;
  /** Receives errors and notices as values. */
  readonly receive?: ConsoleOptions['receive'];
}

export class Context implements ConsoleOptions {
  readonly io: Io;
  readonly console: Console;
  readonly given: GivenSettings;
  readonly color: ColorChoice | undefined;
  readonly quiet: boolean;
  readonly debug: boolean;
  /** Of --profile. */
  readonly profile: string | undefined;
  readonly receive: ConsoleOptions['receive'];
  readonly #needsNoSettings: boolean;
  #settings: Settings | undefined;
  /** Of the last session: with what was typed at a prompt, or of another profile. */
  #sessionSettings: Settings | undefined;
  #session: Promise<Session> | undefined;

  constructor(io: Io, run: RunOptions, redaction?: Redaction) {
    const { given, profile, color, quiet = false, debug = false, needsNoSettings = false } = run;
    const { IMGCTL_DEBUG = '' } = io.env;
    const isOn = !['', '0', 'false', 'no', 'off'].includes(IMGCTL_DEBUG.trim().toLowerCase());
    this.io = io;
    this.given = given;
    this.profile = profile;
    this.color = color;
    this.quiet = quiet;
    this.debug = debug || isOn;
    this.receive = run.receive;
    this.#needsNoSettings = needsNoSettings;
    this.console = new Console(io, this, redaction);
  }

  /** Settled when they are first needed, and never changed. @throws ImgctlError config, usage */
  get settings(): Settings {
    this.#settings ??= this.#settle();
    return this.#settings;
  }

  /** What config.json holds, whatever profile the run has. @throws ImgctlError config */
  get config(): ConfigFile {
    return readConfigFile(findPaths(this.io).config, this.io);
  }

  #settle(): Settings {
    const { io, profile, given } = this;
    const { value: config, error } = attempt(() => this.config);
    if (config !== undefined) return settle(config, io.env, profile, given);
    if (!this.#needsNoSettings) throw error;
    this.console.warn(error.message, error.facts);
    return settle(NO_CONFIG, io.env, profile, given);
  }

  hintOf(facts: Advice): string {
    return hintText(facts, () => this.#hintSettings());
  }

  /** The settings of the session, of the run, or, if they cannot be read, of its command line. */
  #hintSettings(): Settings {
    const { io, profile, given } = this;
    const known = this.#sessionSettings ?? this.#settings;
    if (known) return known;
    const read = () => settle(this.config, io.env, profile, given);
    const { value } = attempt(read);
    return value ?? tryOr(() => settle(NO_CONFIG, io.env, profile, given), settle(NO_CONFIG, {}));
  }

  get format(): Format {
    return this.settings.get('output');
  }

  /**
   * Decides what is printed and how, before anything is sent.
   * @param format instead of that of the run. @throws ImgctlError usage, config
   */
  output(columns: readonly Column[], options: OutputOptions = {}, format = this.format): Output {
    const given = this.given.get('output');
    if (options.get !== undefined && given) throw incompatible('--get', given.origin);
    const time = () => this.settings.get('time');
    const { now } = this.io;
    return new Output(columns, options, { format, quiet: this.quiet, time, now });
  }

  /** That of -o or --json, or else a table, whatever the settings and the environment say. */
  get givenFormat(): Format {
    return settle(NO_CONFIG, {}, undefined, this.given).get('output');
  }

  /** The format, or that of the flags if it is invalid: the errors of everything else need one. */
  get safeFormat(): Format {
    return tryOr(() => this.format, this.givenFormat);
  }

  /** True if errors, notices and progress are JSON. */
  get writesJson(): boolean {
    return FORMATS[this.safeFormat].hasJsonErrors === true;
  }

  get terminal(): Terminal {
    return decideTerminal(this.io.stdout, this.io.env, this.color);
  }

  get errorTerminal(): Terminal {
    return decideTerminal(this.io.stderr, this.io.env, this.color);
  }

  /** @throws ImgctlError config: unknown profile, no base URL, or invalid settings */
  session(): Promise<Session> {
    const { replacedUrl, profile } = this.settings;
    if (replacedUrl !== undefined && this.profile !== undefined) {
      const { layer, origin, text } = this.settings.find('base-url');
      const message = `${origin} selects ${shownAddress(text)}, not ${replacedUrl} of profile ${profile}`;
      if (layer === 'variable') this.console.warn(message, setting('unset', 'base-url'));
    }
    this.#session ??= this.openSession(this.settings);
    return this.#session;
  }

  /** Opens a session with other settings or tokens; it is closed at the end of the run too. */
  async openSession(settings: Settings, tokens?: SessionOptions['tokens']): Promise<Session> {
    const session = await openSession({ ...this.sessionOptions(settings), tokens });
    this.#closers.push(session.close);
    return session;
  }

  sessionOptions(settings: Settings): SessionOptions {
    this.#sessionSettings = settings;
    const { console, io, onEvent } = this;
    const onSecret = (secret: string) =>
      console.redaction.add(
        secret,
        tryOr(() => settings.get('username'), undefined),
      );
    const { warn, report } = console;
    const configDirectory = findPaths(io).config;
    return {
      io,
      settings,
      configDirectory,
      userAgent: USER_AGENT,
      warn,
      report,
      onSecret,
      redact: console.redaction.apply,
      onEvent,
    };
  }

  tokenFiles(account: Account): FileStore {
    return new FileStore(findPaths(this.io).config, account, this.io, this.console.warn);
  }

  /** Until then, a line on stderr says why the run waits. */
  #reportedUntil = 0;

  readonly onEvent = (event: ClientEvent): void => {
    this.console.debug(describeEvent(event));
    if (event.kind === 'waiting') {
      const { method, url, milliseconds } = event;
      const time = describeDuration(milliseconds);
      this.console.stalled(`waiting for ${url.host}: ${method} ${url.pathname} (${time})`);
    }
    const reason = waitReason(event);
    const time = this.io.elapsed();
    // Requests that run at the same time wait for the same reason.
    if (reason === undefined || time < this.#reportedUntil) return;
    this.console.waiting(reason.text);
    this.#reportedUntil = time + reason.milliseconds;
  };

  readonly #closers: (() => Promise<void>)[] = [];

  async close(): Promise<void> {
    for (const closer of this.#closers) await closer();
    await this.console.flush();
  }
}

/** Returns why a run waits, and for how long; undefined if that is not worth a line. */
function waitReason(event: ClientEvent) {
  if (event.kind !== 'retry' && event.kind !== 'limit') return undefined;
  const { asked, url } = event;
  const wait = event.kind === 'retry' ? event.wait : asked;
  if (asked >= MIN_REPORTED_WAIT) {
    return { text: `${url.host} asks to wait ${describeDuration(asked)}`, milliseconds: wait };
  }
  if (event.kind === 'limit') {
    if (event.refusedFor < MIN_REPORTED_WAIT) return undefined;
    const text = `${url.host} limits requests; retrying for up to a minute`;
    return { text, milliseconds: 60_000 };
  }
  if (!event.outage || wait < MIN_REPORTED_OUTAGE) return undefined;
  const text = `${url.host} ${event.outage}; retrying in ${describeDuration(wait)}`;
  return { text, milliseconds: wait };
}
