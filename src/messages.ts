// What a run says: data on stdout, notes on stderr, in order and out of each other's way.

import type { Io } from './io.ts';
import { type ErrorFormat, formatNotice } from './output/messages.ts';
import { createProgress, type Progress } from './output/progress.ts';
import { Redaction, redactingSink } from './output/redaction.ts';
import type { Terminal } from './output/terminal.ts';

/** The half of a run's context that writes; the other half knows how. */
export abstract class Messages {
  abstract readonly io: Io;
  abstract readonly quiet: boolean;
  abstract readonly errorFormat: ErrorFormat;
  abstract readonly errorTerminal: Terminal;

  /** Of all that is said on stderr; data that a user asked for is left as it is. */
  readonly redaction = new Redaction();

  #queue: Promise<void> = Promise.resolve();
  #failure: unknown;
  #progress: Progress | undefined;

  /** Something is wrong, but the command goes on. */
  warn(message: string, hint?: string): void {
    this.#enqueue(formatNotice('warning', message, hint, this.errorFormat));
  }

  /** Something that a person may like to know; not with -q. */
  note(message: string, hint?: string): void {
    if (!this.quiet) this.#enqueue(formatNotice('note', message, hint, this.errorFormat));
  }

  trace(line: string): void {
    this.#enqueue(formatNotice('debug', line, undefined, { ...this.errorFormat, json: false }));
  }

  /** In order, and after what was queued before. */
  print(text: string): Promise<void> {
    const written = this.#queue.then(() => this.io.stdout.write(text));
    this.#queue = written.catch(() => {});
    return written;
  }

  /** For callers that cannot wait, such as commander: what goes wrong is thrown by the next flush. */
  printSoon(text: string): void {
    this.print(text).catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  #enqueue(text: string): void {
    const write = () => this.io.stderr.write(text);
    this.#queue = this.#queue
      .then(() => (this.#progress ? this.#progress.aside(write) : write()))
      .catch(() => {});
  }

  /**
   * Shows on stderr what a long run is doing; notes written meanwhile keep out of its way.
   * `lines`: where nothing may move, a line for each change instead of nothing.
   */
  startProgress({ lines, quiet = false }: { lines: boolean; quiet?: boolean }): Progress {
    const progress = createProgress({
      sink: redactingSink(this.io.stderr, this.redaction),
      terminal: this.errorTerminal,
      quiet: quiet || this.quiet,
      lines,
    });
    this.#progress = progress;
    return progress;
  }

  /** Once all notes are out and nothing moves on stderr any more: what follows starts a line of its own. */
  async flush(): Promise<void> {
    await this.#queue;
    await this.#progress?.stop();
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure;
  }
}
