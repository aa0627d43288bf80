// Shows on stderr what a long run is doing: ora's spinner on a terminal, lines of text elsewhere.

import type { Ora } from 'ora';
import type { Sink } from '../io.ts';
import type { Redaction } from './redaction.ts';
import { loadStyle } from './style.ts';
import type { Terminal } from './terminal.ts';
import { clean } from './text.ts';

/** Read at each use: options are known once the command line is parsed. */
export interface ProgressOptions {
  /** True if nothing is shown. */
  readonly quiet: boolean;
  /** True if each line is a JSON object. */
  readonly writesJson: boolean;
  readonly errorTerminal: Terminal;
}

/**
 * Returns a text with details, such as the elapsed time.
 * @param stalled what the run waits for, if it has waited for a while
 */
type Describe = (stalled?: string) => string;

/** What the run is doing, as it said last. */
interface Activity {
  readonly text: string;
  readonly describe?: Describe | undefined;
  readonly stalled?: string;
}

/** What a user sees of a progress. */
interface View {
  /** Called when the run says another text. */
  change(text: string): void;
  /** Erases the line while something else is written to the same terminal; one call at a time. */
  whilePaused(write: () => Promise<void>): Promise<void>;
  /** Erases the line; nothing is called afterwards. */
  stop(): void;
}

export class Progress {
  readonly #stderr: Sink;
  readonly #options: ProgressOptions;
  readonly #redact: Redaction['apply'];
  readonly #writeLine: (line: string) => void;
  #view: View | undefined;
  #activity: Activity | undefined;

  constructor(
    stderr: Sink,
    options: ProgressOptions,
    redact: Redaction['apply'],
    writeLine: (line: string) => void,
  ) {
    this.#stderr = stderr;
    this.#options = options;
    this.#redact = redact;
    this.#writeLine = writeLine;
  }

  /**
   * From now on, a line shows what the run is doing.
   * @param onlyIfRedrawn if the line cannot be redrawn, nothing is written instead
   */
  start({ onlyIfRedrawn = false } = {}): void {
    this.end();
    const { quiet, errorTerminal } = this.#options;
    const { stream } = this.#stderr;
    if (quiet) return;
    if (errorTerminal.interactive) {
      const textNow = () => clean(this.#detail(), this.#redact);
      if (stream) this.#view = createSpinner(stream, errorTerminal, textNow);
    } else if (!onlyIfRedrawn) {
      this.#view = createLines(this.#write, this.#detail);
    }
  }

  /**
   * Says what the run is doing.
   * @param text written as a line if it is another one, and not empty
   * @param describe returns more, for each frame of a spinner, and for lines while the text stays
   * @returns false if nothing shows it
   */
  show(text: string, describe?: Describe): boolean {
    if (!this.#view) return false;
    const isOther = text !== this.#activity?.text;
    this.#activity = { text, describe };
    if (isOther) this.#view.change(text);
    return true;
  }

  /** Says what the run has waited for, until the next `show`. @returns as `show` */
  stalled(reason: string): boolean {
    if (!this.#activity) return false;
    this.#activity = { ...this.#activity, stalled: reason };
    return true;
  }

  /** What the run is doing, in detail. */
  readonly #detail = (): string => {
    const { text = '', describe, stalled } = this.#activity ?? {};
    return describe ? describe(stalled) : (stalled ?? text);
  };

  readonly #write = (text: string): void => {
    const progress = clean(text, this.#redact);
    const { writesJson } = this.#options;
    if (text !== '') this.#writeLine(`${writesJson ? JSON.stringify({ progress }) : progress}\n`);
  };

  whilePaused(write: () => Promise<void>): Promise<void> {
    return this.#view ? this.#view.whilePaused(write) : write();
  }

  end(): void {
    this.#view?.stop();
    this.#view = undefined;
    this.#activity = undefined;
  }

  /** Runs an action, and shows what it is doing. */
  async during<Done>(action: () => Promise<Done>): Promise<Done> {
    this.start();
    try {
      return await action();
    } finally {
      this.end();
    }
  }
}

/** Milliseconds without a change. CI systems end jobs that are silent for minutes. */
const LINE_INTERVAL = 30_000;

/**
 * Writes a line per change, and one each 30 s between them.
 * @param write writes a line, but none for an empty text
 */
function createLines(write: (text: string) => void, detail: () => string): View {
  let timer: NodeJS.Timeout | undefined;
  return {
    change(text) {
      write(text);
      clearInterval(timer);
      timer = setInterval(() => write(detail()), LINE_INTERVAL).unref();
    },
    whilePaused: (action) => action(),
    stop: () => clearInterval(timer),
  };
}

/** Milliseconds until the first frame: a shorter run shows no spinner, and does not load it. */
const FIRST_FRAME_DELAY = 100;

/** Draws a spinner with the text, from a moment after the first change on. */
function createSpinner(
  stream: NodeJS.WriteStream,
  terminal: Terminal,
  textNow: () => string,
): View {
  let timer: NodeJS.Timeout | undefined;
  let spinner: Ora | undefined;
  let isStopped = false;
  let isPaused = false;

  const begin = async () => {
    const loaded = await loadSpinner(stream, terminal, textNow);
    if (isStopped) return;
    spinner = loaded;
    if (!isPaused) spinner.start();
  };
  const pause = () => {
    // If it does not spin, ora would still move the cursor.
    if (spinner?.isSpinning) spinner.stop();
  };

  return {
    change() {
      timer ??= setTimeout(() => void begin().catch(() => {}), FIRST_FRAME_DELAY).unref();
    },
    async whilePaused(write) {
      isPaused = true;
      pause();
      // A write that fails leaves it paused: the terminal may be gone or stand still.
      await write();
      isPaused = false;
      if (!isStopped) spinner?.start();
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
      pause();
    },
  };
}

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const ASCII_FRAMES = '|/-\\';

/** The frame, a space, and the last column: after it, some terminals start a new line. */
const RESERVED = 3;

/** Cells of the start that stay if a line is cut: its end says how far the run is. */
const MAX_HEAD = 4;

/** @param textNow is called for each frame */
async function loadSpinner(
  stream: NodeJS.WriteStream,
  terminal: Terminal,
  textNow: () => string,
): Promise<Ora> {
  const { default: ora } = await import('ora');
  const { cutMiddle } = await import('./width.ts');
  const style = await loadStyle(terminal);
  const frames = [...(terminal.unicode ? FRAMES : ASCII_FRAMES)];
  const spinner = ora({
    stream,
    spinner: { frames: frames.map((frame) => style.id(frame)) },
    // ora would ask chalk, which ignores NO_COLOR.
    color: false,
    // By default ora swallows Ctrl-C and hides the cursor.
    discardStdin: false,
    hideCursor: false,
    isEnabled: true,
  });
  // ora has no callback for the text, and asks for the prefix first: the text is set there, as it
  // may have the elapsed time, and the width may change.
  spinner.prefixText = () => {
    // ora would erase lines without end in a window of 0 columns: from then on it shows nothing.
    if (!(stream.columns > 0)) spinner.isSilent = true;
    const width = Math.max(0, stream.columns - RESERVED);
    spinner.text = cutMiddle(textNow(), width, terminal.unicode, MAX_HEAD);
    return '';
  };
  return spinner;
}
