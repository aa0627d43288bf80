// Orders what a run writes: data on stdout, and on stderr what it says about it.

import { asImgctlError } from './errors.ts';
import type { Advice } from './facts.ts';
import { type Io, type Sink, withWrite } from './io.ts';
import {
  errorMessage,
  formatMessage,
  formatTrace,
  type Label,
  type Message,
  type MessageFormat,
  type Notice,
  noticeMessage,
} from './output/messages.ts';
import { Progress, type ProgressOptions } from './output/progress.ts';
import { Redaction } from './output/redaction.ts';
import { loadStyle } from './output/style.ts';
import { clean, wrapWords } from './output/text.ts';

export interface ConsoleOptions extends ProgressOptions {
  /** Writes debug lines, and the stack trace of the error that ends the run. */
  readonly debug: boolean;
  /** Returns the hint as this run prints it. */
  hintOf(facts: Advice): string;
  /** Receives errors and notices but debug lines as values, besides stderr. */
  readonly receive?: ((message: Message) => void) | undefined;
}

interface SuccessOptions extends Pick<Notice, 'hint' | 'details'> {
  /**
   * What is reported if marks are not used, without details: the message with a small first letter
   * if undefined, nothing if null.
   */
  readonly withoutMark?: string | null;
  readonly hasWarnings?: boolean;
}

/**
 * What each method writes to stderr:
 *
 *                    on a terminal              elsewhere               in JSON
 *     warn           imgctl: warning: late      the same                {"warning"}
 *     warnOfPart     ! late                     imgctl: warning: late   {"warning"}
 *     failure        imgctl: error: lost        the same                {"warning"}
 *     failureOfPart  ✗ lost                     imgctl: error: lost     {"warning"}
 *     success        ✓ Saved it                 imgctl: saved it, or    {"note"}, likewise
 *                                               as `withoutMark` says
 *     report         imgctl: first run          the same                {"note"}
 *     note           imgctl: no images          nothing                 {"note"}, or nothing
 *     waiting,       the line of the progress, or without one as `report`
 *     stalled
 *     footer         3 images                   the same                not called
 *     debug          imgctl: debug: GET /v2     the same                {"debug"}
 *     fail           imgctl: no such image      the same                {"error"}
 *
 * Without --debug, `debug` writes nothing. With -q, `success`, `report`, `note`, `waiting`, `stalled`
 * and `footer` write nothing.
 */
export class Console {
  // Methods that other modules receive alone are properties.

  /** Secrets that no message may show. Data on stdout, and names in details, are left as they are. */
  readonly redaction: Redaction;
  /** stdout, in order with what goes to stderr. */
  readonly stdout: Sink;
  /** What the run is doing, in a line that stays below everything else. */
  readonly progress: Progress;
  readonly #io: Io;
  readonly #options: ConsoleOptions;
  #queue: Promise<void> = Promise.resolve();
  readonly #warnings = new Set<string>();
  readonly #hints = new PartHints();

  constructor(io: Io, options: ConsoleOptions, redaction = new Redaction()) {
    this.#io = io;
    this.#options = options;
    this.redaction = redaction;
    this.stdout = withWrite(io.stdout, (data: string | Uint8Array) => this.print(data));
    const writeLine = (line: string) => this.#enqueue(() => line);
    this.progress = new Progress(io.stderr, options, redaction.apply, writeLine);
  }

  /** Writes to stdout after everything before it. @throws BrokenPipeError, ImgctlError */
  print(data: string | Uint8Array): Promise<void> {
    const { stdout } = this.#io;
    const write = () => stdout.write(data);
    const written = this.#queue.then(() =>
      stdout.isTTY ? this.progress.whilePaused(write) : write(),
    );
    this.#queue = written.catch(() => {});
    return written;
  }

  /** Writes to stderr after everything before it. A failed write is ignored. */
  #enqueue(makeText: () => string | Promise<string>): void {
    this.#queue = this.#queue
      .then(async () => {
        const text = await makeText();
        await this.progress.whilePaused(() => this.#io.stderr.write(text));
      })
      .catch(() => {});
  }

  /** Ends the progress. Resolves when everything is written. */
  async flush(): Promise<void> {
    this.progress.end();
    await this.#queue;
  }

  /** Something is wrong, but the command continues. The same warning is shown once. */
  readonly warn = (message: string, hint?: Advice): void => {
    this.#warn('warning', message, hint);
  };

  /** A warning of a part: one of several packages, files or problems. */
  warnOfPart(message: string, hint?: Advice): void {
    this.#warn(this.usesMarks ? 'part with a warning' : 'warning', message, hint);
  }

  #warn(label: Label, message: string, hint: Advice | undefined): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.#notice(label, { message, hint });
  }

  /** Something failed, but the command continues. In JSON a warning, as an error ends the run. */
  failure(message: string, hint?: Advice): void {
    this.#notice('failure', { message, hint });
  }

  /** In JSON each one has its hint, as programs may read a line alone. */
  failureOfPart({ hint: facts, details, ...failure }: Notice): void {
    // As text, to be compared: what a hint says may change until it is written.
    const text = facts && this.#options.hintOf(facts);
    const hint = this.#options.writesJson ? text : this.#hints.choose(text, this.usesMarks);
    if (this.usesMarks) {
      this.#notice('failed part', { ...failure, hint, details: details?.map(shortDigests) });
    } else {
      this.#notice('failure', { ...failure, hint, details });
    }
  }

  /** The first hint of failed parts, if marks are used: the command shows it after all parts. */
  get hintForEnd(): string | undefined {
    return this.#hints.forEnd;
  }

  /** True if lines of parts and successes begin with a mark: on a terminal. */
  get usesMarks(): boolean {
    return this.#io.stderr.isTTY && !this.#options.writesJson;
  }

  /** Says what the run waits for: in the progress line, or as a line of its own. */
  readonly waiting = (text: string): void => {
    if (!this.progress.show(text)) this.report(text);
  };

  /** Says what a run has waited for, unless its progress shows that it waits. */
  readonly stalled = (text: string): void => {
    if (!this.progress.stalled(text)) this.report(text);
  };

  /** Reports what was done or is waited for. */
  readonly report = (message: string, hint?: Advice): void => {
    if (!this.#options.quiet) this.#notice('note', { message, hint });
  };

  /** Says that nothing was found, or what to do next: on a terminal only, as cron mails output. */
  readonly note = (message: string, hint?: Advice): void => {
    if (this.#io.stderr.isTTY) this.report(message, hint);
  };

  /** Reports a success. Its mark is another one after warnings. */
  success(message: string, options: SuccessOptions = {}): void {
    const { withoutMark = lowerFirst(message), hasWarnings, hint, details } = options;
    if (!this.usesMarks) {
      if (withoutMark !== null) this.report(withoutMark, hint);
    } else if (!this.#options.quiet) {
      const label = hasWarnings ? 'success with warnings' : 'success';
      this.#notice(label, { message, hint, details });
    }
  }

  /** Writes a dim line below a table that stdout shows on a terminal, if there is anything to say. */
  footer(text: string): void {
    if (text === '' || this.#options.quiet) return;
    this.#enqueue(async () => {
      const { width = Number.POSITIVE_INFINITY, style, redact } = await this.#format();
      const lines = wrapWords(clean(text, redact), width);
      return lines.map((line) => `${style.faint(line)}\n`).join('');
    });
  }

  /** Writes a line with --debug. */
  readonly debug = (line: string): void => {
    if (this.#options.debug) this.#notice('debug', { message: line });
  };

  #notice(label: Label, notice: Notice): void {
    this.#enqueue(async () => {
      const format = await this.#format();
      const message = noticeMessage(label, notice, format);
      if (message.kind !== 'debug') this.#options.receive?.(message);
      return formatMessage(message, format, label);
    });
  }

  /** Writes the error that ends the run. */
  async fail(thrown: unknown): Promise<void> {
    await this.flush();
    const error = asImgctlError(thrown);
    const format = await this.#format();
    const message = errorMessage(error, format);
    this.#options.receive?.(message);
    const trace = this.#options.debug ? formatTrace(error, format) : '';
    await this.#io.stderr.write(formatMessage(message, format, 'error') + trace).catch(() => {});
  }

  async #format(): Promise<MessageFormat> {
    const { errorTerminal, writesJson: json } = this.#options;
    const style = await loadStyle(errorTerminal);
    const { apply: redact } = this.redaction;
    const hintOf = (facts: Advice) => this.#options.hintOf(facts);
    const { width, unicode } = errorTerminal;
    return { json, style, redact, hintOf, width, unicode };
  }
}

/** The hints of failed parts: one that several parts have in a row is said once. */
class PartHints {
  /** The first one, if it is left to the end. */
  forEnd: string | undefined;
  #last: string | undefined;

  /** Returns the hint of the next part if it is to be said beside that part. */
  choose(hint: string | undefined, leavesFirst: boolean): string | undefined {
    if (leavesFirst) this.forEnd ??= hint;
    const isKnown = hint === this.#last || hint === this.forEnd;
    this.#last = hint;
    return isKnown ? undefined : hint;
  }
}

function shortDigests(text: string): string {
  return text.replace(/\b([0-9a-f]{8})[0-9a-f]{16,}([0-9a-f]{8})\b/gi, '$1...$2');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
