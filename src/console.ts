// What a run says on stderr, besides its progress: errors, warnings, reports and notes.

import { asImgctlError } from './errors.ts';
import type { Advice } from './facts.ts';
import type { Io } from './io.ts';
import {
  clean,
  type ErrorFormat,
  errorMessage,
  formatMessage,
  formatTrace,
  type Message,
  type Notice,
  type NoticeKind,
  noticeMessage,
} from './output/messages.ts';
import { Redaction } from './output/redaction.ts';
import { loadStyle, type Style } from './output/style.ts';
import { wrapWords } from './output/text.ts';
import { type ProgressStyle, WriteQueue } from './output/write-queue.ts';

export type { Redaction };

/** The style of notices, read at each write: options are known once the command line is parsed. */
export interface ConsoleStyle extends ProgressStyle {
  readonly errorFormat: Pick<ErrorFormat, 'json' | 'debug'>;
  /** Returns the hint as this run prints it. */
  hintOf(facts: Advice): string;
  /** Receives errors and notices as values, besides stderr. */
  readonly receive?: ((message: Message) => void) | undefined;
}

interface SuccessOptions extends Pick<Notice, 'hint' | 'details'> {
  /** The report if stderr is not a terminal [the message in lower case]; none if null. */
  readonly elsewhere?: string | null;
  readonly hasWarnings?: boolean;
}

export class Console extends WriteQueue {
  readonly #style: ConsoleStyle;
  readonly #warnings = new Set<string>();
  #hintForEnd: string | undefined;
  #lastPartHint: string | undefined;

  constructor(io: Io, style: ConsoleStyle, redaction = new Redaction()) {
    super(io, style, redaction);
    this.#style = style;
  }

  /** Something is wrong, but the command continues. The same warning is shown once. */
  readonly warn = (message: string, hint?: Advice): void => this.#warning(message, hint);

  /** A warning of a part: one of several packages, files or problems. */
  warnOfPart(message: string, hint?: Advice): void {
    this.#warning(message, hint, this.usesMarks ? '!' : undefined);
  }

  #warning(message: string, hint: Advice | undefined, mark?: string): void {
    if (this.#warnings.has(message)) return;
    this.#warnings.add(message);
    this.#notice('warning', { message, hint }, ({ caution }) => mark && caution(mark));
  }

  /** Something failed, but the command continues. In JSON a warning, as an error ends the run. */
  failure(message: string, hint?: Advice): void {
    this.#failure({ message, hint });
  }

  /** A failure of a part. Its hint is omitted if it is said at the end, or was said just before. */
  failureOfPart({ hint: facts, details, ...failure }: Notice): void {
    const hint = facts && this.#style.hintOf(facts);
    if (this.usesMarks) {
      this.#hintForEnd ??= hint;
      const news = hint === this.#hintForEnd ? undefined : hint;
      const mark = this.#style.errorTerminal.unicode ? '✗' : 'failed:';
      this.#failure({ ...failure, details: details?.map(shortDigests), hint: news }, mark);
    } else {
      const news = hint === this.#lastPartHint ? undefined : hint;
      this.#lastPartHint = hint;
      this.#failure({ ...failure, details, hint: news });
    }
  }

  #failure(notice: Notice, mark?: string): void {
    this.#notice('warning', notice, ({ bad }) => (mark ? bad(mark) : `imgctl: ${bad('error:')}`));
  }

  /** The first hint of failed parts, on a terminal only: the command shows it after all parts. */
  get hintForEnd(): string | undefined {
    return this.#hintForEnd;
  }

  /** True if lines of parts and successes begin with a mark: on a terminal. */
  get usesMarks(): boolean {
    return this.io.stderr.isTTY && !this.#style.errorFormat.json;
  }

  /** Says what the run waits for: in the progress line, or as a line of its own. */
  readonly waiting = (text: string): void => {
    if (!this.showProgress(text)) this.report(text);
  };

  /** Says which response a run has waited for, unless its progress shows that it waits. */
  readonly stalled = (text: string): void => {
    if (!this.showStalled(text)) this.report(text);
  };

  /** Reports what was done or is waited for, unless -q is set. */
  readonly report = (message: string, hint?: Advice): void => {
    if (!this.#style.quiet) this.#notice('note', { message, hint });
  };

  /** Says that nothing was found, or what to do next: on a terminal only, as cron mails output. */
  readonly note = (message: string, hint?: Advice): void => {
    if (this.io.stderr.isTTY) this.report(message, hint);
  };

  /** Reports a success unless -q is set: on a terminal with a mark, and another after warnings. */
  success(message: string, options: SuccessOptions = {}): void {
    const { elsewhere = lowerFirst(message), hasWarnings, hint, details } = options;
    const { quiet, errorTerminal } = this.#style;
    if (!this.usesMarks) {
      if (elsewhere !== null) this.report(elsewhere, hint);
    } else if (!quiet) {
      const ok = errorTerminal.unicode ? '✓' : 'ok:';
      this.#notice('note', { message, hint, details }, ({ good, caution }) =>
        hasWarnings ? caution('!') : good(ok),
      );
    }
  }

  /** Writes a dim line below a table, if there is anything to say. */
  footer(text: string): void {
    if (text === '') return;
    this.writeError(async () => {
      const { width = Number.POSITIVE_INFINITY, style, redact } = await this.#format();
      const lines = wrapWords(clean(text, redact), width);
      return lines.map((line) => `${style.faint(line)}\n`).join('');
    });
  }

  trace(line: string): void {
    this.#notice('debug', { message: line });
  }

  #notice(kind: NoticeKind, notice: Notice, markOf?: (style: Style) => string | undefined): void {
    this.writeError(async () => {
      const format = await this.#format();
      const message = noticeMessage(kind, notice, format);
      if (kind !== 'debug') this.#style.receive?.(message);
      return formatMessage(message, format, markOf?.(format.style));
    });
  }

  /** Writes the error that ends the run. */
  async fail(thrown: unknown): Promise<void> {
    await this.flush();
    const error = asImgctlError(thrown);
    const format = await this.#format();
    const message = errorMessage(error, format);
    this.#style.receive?.(message);
    const trace = format.debug ? formatTrace(error, format) : '';
    await this.io.stderr.write(formatMessage(message, format) + trace).catch(() => {});
  }

  async #format(): Promise<ErrorFormat> {
    const { errorFormat, errorTerminal } = this.#style;
    const style = await loadStyle(errorTerminal);
    const { apply: redact } = this.redaction;
    const hintOf: ConsoleStyle['hintOf'] = (facts) => this.#style.hintOf(facts);
    return { ...errorFormat, style, redact, hintOf, width: errorTerminal.width };
  }
}

function shortDigests(text: string): string {
  return text.replace(/\b([0-9a-f]{8})[0-9a-f]{16,}([0-9a-f]{8})\b/gi, '$1...$2');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
