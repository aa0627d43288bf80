// Orders what a run writes: data on stdout, notices on stderr, and a progress line between them.

import { asImgctlError } from './errors.ts';
import type { Advice } from './facts.ts';
import { type Io, type Sink, withWrite } from './io.ts';
import {
  clean,
  type ErrorFormat,
  errorMessage,
  formatError,
  formatNotice,
  type Message,
  type Notice,
  type NoticeKind,
  noticeMessage,
} from './output/messages.ts';
import { createLines, createSpinner, type Describe, type Progress } from './output/progress.ts';
import { Redaction } from './output/redaction.ts';
import { loadStyle, type Style } from './output/style.ts';
import type { Terminal } from './output/terminal.ts';
import { wrapWords } from './output/text.ts';

export type { Redaction };

/** The style of notices, read at each write: options are known once the command line is parsed. */
export interface ConsoleStyle {
  readonly quiet: boolean;
  readonly errorFormat: Pick<ErrorFormat, 'json' | 'debug'>;
  /** Returns the hint as this run prints it. */
  hintOf(facts: Advice): string;
  readonly errorTerminal: Terminal;
  /** Receives errors and notices as values, besides stderr. */
  readonly receive?: ((message: Message) => void) | undefined;
}

interface SuccessOptions extends Pick<Notice, 'hint' | 'details'> {
  /** The report if stderr is not a terminal [the message in lower case]; none if null. */
  readonly elsewhere?: string | null;
  readonly hasWarnings?: boolean;
}

export class Console {
  /** Secrets that no notice may show; data on stdout is left as it is. */
  readonly redaction: Redaction;
  /** stdout, in order with the notices. */
  readonly stdout: Sink;
  readonly #io: Io;
  readonly #style: ConsoleStyle;
  #queue: Promise<void> = Promise.resolve();
  readonly #warnings = new Set<string>();
  #progress: Progress | undefined;
  /** Of failed parts: on a terminal the first hint, which is shown at the end; else the last. */
  #partHint: string | undefined;

  constructor(io: Io, style: ConsoleStyle, redaction = new Redaction()) {
    this.#io = io;
    this.#style = style;
    this.redaction = redaction;
    this.stdout = withWrite(io.stdout, (text: string) => this.print(text));
  }

  /** Something is wrong, but the command continues. The same warning is shown once. */
  readonly warn = (message: string, hint?: Advice): void => this.#warning(message, hint);

  /** A warning of a part: one of several packages, files or problems. */
  warnOfPart(message: string, hint?: Advice): void {
    this.#warning(message, hint, this.marksParts ? '!' : undefined);
  }

  #warning(message: string, hint: Advice | undefined, mark?: string): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.#notice('warning', { message, hint }, ({ waiting }) => mark && waiting(mark));
  }

  /** Something failed, but the command continues. In JSON a warning, as an error ends the run. */
  failure(message: string, hint?: Advice): void {
    this.#failure({ message, hint });
  }

  /**
   * A failure of a part. On a terminal the first hint is left to the end; elsewhere none is said
   * twice in a row.
   */
  failureOfPart({ hint: facts, details, ...failure }: Notice): void {
    const hint = facts && this.#style.hintOf(facts);
    if (this.marksParts) this.#partHint ??= hint;
    const news = hint === this.#partHint ? undefined : hint;
    if (this.marksParts) {
      const mark = this.#style.errorTerminal.unicode ? '✗' : 'failed:';
      this.#failure({ ...failure, details: details?.map(shortDigests), hint: news }, mark);
    } else {
      this.#partHint = hint;
      this.#failure({ ...failure, details, hint: news });
    }
  }

  #failure(notice: Notice, mark?: string): void {
    this.#notice('warning', notice, ({ bad }) => (mark ? bad(mark) : `imgctl: ${bad('error:')}`));
  }

  /** The first hint of failed parts, on a terminal: it is to be shown once at the end. */
  get hintForEnd(): string | undefined {
    return this.marksParts ? this.#partHint : undefined;
  }

  /** True if parts are named in lines of their own that begin with a mark: on a terminal. */
  get marksParts(): boolean {
    return this.#io.stderr.isTTY && !this.#style.errorFormat.json;
  }

  /** Says what the run waits for: in the progress line, or as a line of its own. */
  readonly waiting = (text: string): void => {
    if (this.#progress) this.#progress.update(text);
    else this.report(text);
  };

  /** Says which response a run has waited for, unless its progress shows that it waits. */
  readonly stalled = (text: string): void => {
    if (!this.#progress?.stalled(text)) this.report(text);
  };

  /** Reports what was done or is waited for, unless -q is set. */
  readonly report = (message: string, hint?: Advice): void => {
    if (!this.#style.quiet) this.#notice('note', { message, hint });
  };

  /** Says that nothing was found, or what to do next: on a terminal only, as cron mails output. */
  readonly note = (message: string, hint?: Advice): void => {
    if (this.#io.stderr.isTTY) this.report(message, hint);
  };

  /** Reports a success unless -q is set: on a terminal with a mark, and another after warnings. */
  success(message: string, options: SuccessOptions = {}): void {
    const { elsewhere = lowerFirst(message), hasWarnings, hint, details } = options;
    const { quiet, errorFormat, errorTerminal } = this.#style;
    if (errorFormat.json || !this.#io.stderr.isTTY) {
      if (elsewhere !== null) this.report(elsewhere, hint);
    } else if (!quiet) {
      const ok = errorTerminal.unicode ? '✓' : 'ok:';
      this.#notice('note', { message, hint, details }, ({ good, waiting }) =>
        hasWarnings ? waiting('!') : good(ok),
      );
    }
  }

  /** Writes a dim line below a table. @param hidden columns that the terminal has no room for */
  readonly footer = (
    summary: string | undefined,
    hidden: readonly string[],
    hasNoTrunc: boolean,
  ): void => {
    const option = hasNoTrunc ? '--no-trunc' : '-o json';
    const dropped = hidden.length > 0 ? `hidden: ${hidden.join(', ')} (${option})` : '';
    const text = [summary, dropped].filter(Boolean).join('; ');
    if (text === '') return;
    this.#enqueue((format) => {
      const lines = wrapWords(clean(text, format), format.width ?? Number.POSITIVE_INFINITY);
      return lines.map((line) => `${format.style.faint(line)}\n`).join('');
    });
  };

  trace(line: string): void {
    this.#notice('debug', { message: line });
  }

  /** Writes to stdout after everything before it. @throws BrokenPipeError, ImgctlError */
  print(data: string | Uint8Array): Promise<void> {
    const write = () => this.#io.stdout.write(data);
    const written = this.#queue.then(() =>
      this.#io.stdout.isTTY ? this.#whilePaused(write) : write(),
    );
    this.#queue = written.catch(() => {});
    return written;
  }

  /**
   * From now on, a line says what is done.
   * @param isBrief if the line cannot be redrawn, nothing is written instead of a line per change
   */
  startProgress({ isBrief = false } = {}): void {
    const { errorTerminal, errorFormat, quiet } = this.#style;
    const { stream } = this.#io.stderr;
    const { apply: redact } = this.redaction;
    this.endProgress();
    if (quiet) return;
    if (errorTerminal.interactive) {
      if (stream) this.#progress = createSpinner(stream, errorTerminal, redact);
    } else if (!isBrief) {
      const write = (line: string) => this.#enqueue(() => line);
      this.#progress = createLines(write, redact, errorFormat.json);
    }
  }

  /** @param text of a line; if it is empty, a spinner or a long wait shows `describe` */
  showProgress(text: string, describe?: Describe): void {
    this.#progress?.update(text, describe);
  }

  endProgress(): void {
    this.#progress?.stop();
    this.#progress = undefined;
  }

  /** Runs an action, of which a line says what is done. */
  async withProgress<Done>(action: () => Promise<Done>): Promise<Done> {
    this.startProgress();
    try {
      return await action();
    } finally {
      this.endProgress();
    }
  }

  async fail(thrown: unknown): Promise<void> {
    await this.flush();
    const error = asImgctlError(thrown);
    const format = await this.#format();
    this.#style.receive?.(errorMessage(error, format));
    await this.#io.stderr.write(formatError(error, format)).catch(() => {});
  }

  /** Ends the progress. Resolves when everything is written. */
  async flush(): Promise<void> {
    this.endProgress();
    await this.#queue;
  }

  async #format() {
    const { errorFormat, errorTerminal } = this.#style;
    const style = await loadStyle(errorTerminal);
    const { apply: redact } = this.redaction;
    const hintOf: ConsoleStyle['hintOf'] = (facts) => this.#style.hintOf(facts);
    return { ...errorFormat, style, redact, hintOf, width: errorTerminal.width };
  }

  #notice(kind: NoticeKind, notice: Notice, markOf?: (style: Style) => string | undefined): void {
    this.#enqueue((format) => {
      if (kind !== 'debug') this.#style.receive?.(noticeMessage(kind, notice, format));
      return formatNotice(kind, notice, format, markOf?.(format.style));
    });
  }

  #enqueue(formatted: (format: ErrorFormat) => string): void {
    this.#queue = this.#queue
      .then(async () => {
        const text = formatted(await this.#format());
        await this.#whilePaused(() => this.#io.stderr.write(text));
      })
      .catch(() => {});
  }

  #whilePaused(write: () => Promise<void>): Promise<void> {
    return this.#progress ? this.#progress.whilePaused(write) : write();
  }
}

function shortDigests(text: string): string {
  return text.replace(/\b([0-9a-f]{8})[0-9a-f]{16,}([0-9a-f]{8})\b/gi, '$1...$2');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
