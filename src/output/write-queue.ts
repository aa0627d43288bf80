// Writes to stdout and stderr in one order, and shows a progress line between the writes.

import { type Io, type Sink, withWrite } from '../io.ts';
import { createLines, createSpinner, type Describe, type Progress } from './progress.ts';
import type { Redaction } from './redaction.ts';
import type { Terminal } from './terminal.ts';

/** How progress is shown. */
export interface ProgressStyle {
  /** True if nothing says what is done. */
  readonly quiet: boolean;
  readonly errorFormat: { readonly json: boolean };
  readonly errorTerminal: Terminal;
}

export class WriteQueue {
  /** Secrets that nothing on stderr may show; data on stdout is left as it is. */
  readonly redaction: Redaction;
  /** stdout, in order with what goes to stderr. */
  readonly stdout: Sink;
  protected readonly io: Io;
  readonly #style: ProgressStyle;
  #lastWrite: Promise<void> = Promise.resolve();
  #progress: Progress | undefined;

  /** @param style read at each use: options are known once the command line is parsed */
  constructor(io: Io, style: ProgressStyle, redaction: Redaction) {
    this.io = io;
    this.#style = style;
    this.redaction = redaction;
    this.stdout = withWrite(io.stdout, (text: string) => this.print(text));
  }

  /** Writes to stdout after everything before it. @throws BrokenPipeError, ImgctlError */
  print(data: string | Uint8Array): Promise<void> {
    const { stdout } = this.io;
    const write = () => stdout.write(data);
    const written = this.#lastWrite.then(() => (stdout.isTTY ? this.#whilePaused(write) : write()));
    this.#lastWrite = written.catch(() => {});
    return written;
  }

  /** Writes to stderr after everything before it. A failure is ignored: nothing could show it. */
  protected writeError(makeText: () => string | Promise<string>): void {
    this.#lastWrite = this.#lastWrite
      .then(async () => {
        const text = await makeText();
        await this.#whilePaused(() => this.io.stderr.write(text));
      })
      .catch(() => {});
  }

  /** Ends the progress. Resolves when everything is written. */
  async flush(): Promise<void> {
    this.endProgress();
    await this.#lastWrite;
  }

  /**
   * From now on, a line says what is done.
   * @param isBrief if the line cannot be redrawn, nothing is written instead of a line per change
   */
  startProgress({ isBrief = false } = {}): void {
    const { errorTerminal, errorFormat, quiet } = this.#style;
    const { stream } = this.io.stderr;
    const { apply: redact } = this.redaction;
    this.endProgress();
    if (quiet) return;
    if (errorTerminal.interactive) {
      if (stream) this.#progress = createSpinner(stream, errorTerminal, redact);
    } else if (!isBrief) {
      const writeLine = (line: string) => this.writeError(() => line);
      this.#progress = createLines(writeLine, redact, errorFormat.json);
    }
  }

  /**
   * Says what the run is doing.
   * @param text of the line; if it is empty, a spinner or a long wait shows `describe`
   * @returns false if there is no progress line
   */
  showProgress(text: string, describe?: Describe): boolean {
    this.#progress?.update(text, describe);
    return this.#progress !== undefined;
  }

  /** Says which response the run waits for. @returns false if no progress line shows it */
  protected showStalled(text: string): boolean {
    return this.#progress?.stalled(text) === true;
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

  #whilePaused(write: () => Promise<void>): Promise<void> {
    return this.#progress ? this.#progress.whilePaused(write) : write();
  }
}
