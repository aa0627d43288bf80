// One run of the program: its options, settings and session, opened when first asked for.

import type { Command } from 'commander';
import { version } from '../package.json';
import { ImgctlError } from './errors.ts';
import { findPaths, type Paths } from './files/paths.ts';
import type { Io } from './io.ts';
import { Messages } from './messages.ts';
import { FORMATS, type Format, isFormat } from './output/index.ts';
import type { ErrorFormat } from './output/messages.ts';
import {
  COLOR_CHOICES,
  type ColorChoice,
  decideTerminal,
  type Terminal,
} from './output/terminal.ts';
import { nearest, parseChoice, quoted, suggest } from './query/suggest.ts';
import {
  type ConfigFile,
  checkProfileName,
  EMPTY_CONFIG,
  readConfigFile,
} from './session/profile.ts';
import type { Session, SessionOptions } from './session/session.ts';
import { DEFAULT_PROFILE, type SettingFlags, Settings } from './session/settings.ts';
import { describeEvent } from './session/trace.ts';

/** The options that every command has, as commander hands them over. */
export interface GlobalOptions {
  profile?: string;
  baseUrl?: string;
  output?: string;
  json?: boolean;
  timeout?: string;
  retries?: string;
  debug?: boolean;
  color?: ColorChoice;
  quiet?: boolean;
}

export class Context extends Messages {
  readonly io: Io;
  readonly paths: Paths;
  #options: GlobalOptions = {};
  #config: ConfigFile | undefined;
  #settings: Settings | undefined;
  #session: Promise<Session> | undefined;

  /** Another command line with another Io, for the demo. */
  readonly rerun: (argv: readonly string[], io: Io) => Promise<number>;
  /**
   * Set by the program: a command by its words, complete with options; `topics` may have been meant as well.
   * @throws ImgctlError usage
   */
  findCommand: (words: readonly string[], topics: readonly string[]) => Promise<Command> =
    async () => {
      throw new Error('the program has not been built');
    };

  constructor(io: Io, rerun: Context['rerun']) {
    super();
    this.io = io;
    this.rerun = rerun;
    this.paths = findPaths(io.env, io.cwd, io.platform);
  }

  /** Called once the command line is read. @throws ImgctlError usage: options that contradict */
  useOptions(options: GlobalOptions): void {
    if (options.json && options.output !== undefined && options.output !== 'json') {
      throw new ImgctlError('usage', `--json and --output ${options.output} contradict`, {
        hint: 'give one of them',
      });
    }
    this.#options = options;
  }

  get options(): GlobalOptions {
    return this.#options;
  }

  get quiet(): boolean {
    return this.#options.quiet === true;
  }

  get debug(): boolean {
    return this.#options.debug === true || isOn(this.io.env.IMGCTL_DEBUG);
  }

  /** @throws ImgctlError config: the file cannot be read */
  get config(): ConfigFile {
    this.#config ??= readConfigFile(this.paths.config);
    return this.#config;
  }

  /** Flags and environment are what is left of a file that cannot be read. */
  ignoreConfigFile(): void {
    this.#config = EMPTY_CONFIG;
  }

  /** By flag, environment, the default profile of the configuration, `default`. */
  get profileName(): string {
    const name = this.#options.profile ?? (this.io.env.IMGCTL_PROFILE || undefined);
    return checkProfileName(name ?? this.config.profile ?? DEFAULT_PROFILE);
  }

  get settings(): Settings {
    this.#settings ??= this.settingsWith({});
    return this.#settings;
  }

  /** The settings as they would be with these flags as well. */
  settingsWith(flags: SettingFlags): Settings {
    const options = this.#options;
    const profile = this.profileName;
    return new Settings(
      profile,
      {
        'base-url': options.baseUrl,
        output: options.json ? 'json' : options.output,
        timeout: options.timeout,
        retries: options.retries,
        ...flags,
      },
      this.io.env,
      this.config.profiles.get(profile) ?? {},
      this.config.profile,
    );
  }

  get format(): Format {
    const { value = 'table' } = this.settings.resolve('output');
    return isFormat(value) ? value : 'table';
  }

  /** Where and how a command prints its data. */
  get sinkOptions() {
    const { io, terminal, format, quiet } = this;
    return { sink: io.stdout, terminal, format, quiet };
  }

  /** How errors show; never throws, since it shows the errors of everything else. */
  get errorFormat(): ErrorFormat {
    return {
      json: this.#wantsJsonErrors(),
      debug: this.debug,
      redact: (text) => this.redaction.apply(text),
    };
  }

  #wantsJsonErrors(): boolean {
    try {
      return ['json', 'ndjson'].includes(this.format);
    } catch {
      const { json, output } = this.#options;
      return json === true || output === 'json' || output === 'ndjson';
    }
  }

  /** Colour and width of stdout. */
  get terminal(): Terminal {
    return this.#terminalOf(this.io.stdout);
  }

  /** Colour and width of stderr, where progress and notes go. */
  get errorTerminal(): Terminal {
    return this.#terminalOf(this.io.stderr);
  }

  #terminalOf(sink: Io['stdout']): Terminal {
    const { color = 'auto' } = this.#options;
    return decideTerminal(sink, this.io.env, color);
  }

  readonly version = version;
  readonly userAgent = `imgctl/${version}`;

  /** @throws ImgctlError config: there is no such profile, no base URL, or settings that cannot be used */
  session(): Promise<Session> {
    this.#requireKnownProfile();
    this.#session ??= this.openSession(this.settings);
    return this.#session;
  }

  /** A login makes a new profile; everything else needs one, or a base URL from elsewhere. */
  #requireKnownProfile(): void {
    const { profile, loginCommand } = this.settings;
    const known = [...this.config.profiles.keys()];
    if (known.length === 0 || known.includes(profile)) return;
    if (this.settings.text('base-url') !== undefined) return;
    const hint = suggest(nearest(profile, known), 'imgctl profile list');
    throw new ImgctlError('config', `there is no profile ${quoted(profile)}`, {
      hint: `${hint} (to make it: ${loginCommand})`,
    });
  }

  /** A session by other settings than the run's own; it is closed with the run as well. */
  async openSession(settings: Settings): Promise<Session> {
    const { openSession } = await import('./session/session.ts');
    const session = await openSession({
      io: this.io,
      settings,
      configDirectory: this.paths.config,
      userAgent: this.userAgent,
      warn: (message, hint) => this.warn(message, hint),
      onSecret: (secret) => this.redaction.add(secret),
      onEvent: this.onEvent,
    });
    this.#closers.push(session.close);
    return session;
  }

  /** Hears what happens on the wire, where it is to be traced. */
  get onEvent(): SessionOptions['onEvent'] {
    return this.debug ? (event) => this.trace(describeEvent(event)) : undefined;
  }

  readonly #closers: (() => Promise<void>)[] = [];

  /** Something that is to be done at the end of the run, however it ends. */
  onClose(action: () => Promise<void>): void {
    this.#closers.push(action);
  }

  async close(): Promise<void> {
    for (const closer of this.#closers.reverse()) await closer();
    await this.flush();
  }
}

function isOn(text: string | undefined): boolean {
  return text !== undefined && !['', '0', 'false', 'no', 'off'].includes(text.toLowerCase());
}

/** @throws ImgctlError usage: no output format */
export function requireFormat(text: string): Format {
  return parseChoice(text, { noun: 'format', valid: FORMATS, where: '--output' });
}

/** @throws ImgctlError usage: no choice of colour */
export function requireColor(text: string): ColorChoice {
  return parseChoice(text, { noun: 'choice', valid: COLOR_CHOICES, where: '--color' });
}
