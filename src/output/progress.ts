// Shows on stderr what a long run is doing: ora's spinner on a terminal, lines of text elsewhere.

import type { Ora } from 'ora';
import { loadStyle } from './style.ts';
import type { Terminal } from './terminal.ts';
import { printable } from './text.ts';

export interface Progress {
  /**
   * Says what the run is doing. Lines are written when the text changes, unless it is empty; after
   * 30 s without a change, what `describe` returns. A spinner calls `describe` for each frame.
   * @param describe returns the text with details, such as the elapsed time
   */
  update(text: string, describe?: Describe): void;
  /**
   * Says which response the run waits for, until the next update.
   * @returns false if nothing shows it, as there was no update
   */
  stalled(response: string): boolean;
  /** Erases the line while something else is written to the same terminal; one call at a time. */
  whilePaused<Result>(write: () => Promise<Result>): Promise<Result>;
  /** Erases the line; nothing is called afterwards. */
  stop(): void;
}

/** @param stalled which response the run waits for, if that is known and was not written yet */
export type Describe = (stalled?: string) => string;

/** What the run is doing, as it said last. */
interface Activity {
  readonly text: string;
  readonly describe: Describe;
  /** Which response it waits for. */
  readonly stalled?: string;
}

function activityOf(text: string, describe: Describe = (stalled = text) => stalled): Activity {
  return { text, describe };
}

/** Milliseconds until the first frame: a shorter run shows no spinner, and does not load it. */
const FIRST_FRAME_DELAY = 100;

const FRAMES = '⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏';
const ASCII_FRAMES = '|/-\\';

/** The frame, a space, and the last column: after it, some terminals start a new line. */
const RESERVED = 3;

/** Cells of the start that stay if a line is cut: its end says how far the run is. */
const MAX_HEAD = 4;

/** Milliseconds without a change. CI systems end jobs that are silent for minutes. */
const LINE_INTERVAL = 30_000;

type Redact = (text: string) => string;

/**
 * Writes a line per change, and one each 30 s between them.
 * @param json writes `{"progress": "…"}`, as errors are JSON too
 */
export function createLines(
  writeLine: (line: string) => void,
  redact: Redact,
  json: boolean,
): Progress {
  let activity = activityOf('');
  let timer: NodeJS.Timeout | undefined;
  const write = (text: string) => {
    if (text === '') return;
    const progress = printable(redact(text));
    writeLine(`${json ? JSON.stringify({ progress }) : progress}\n`);
  };
  const writeAgain = () => {
    const { text, describe, stalled } = activity;
    activity = { text, describe };
    write(describe(stalled));
  };
  return {
    update(text, describe) {
      const isNew = timer === undefined || text !== activity.text;
      activity = activityOf(text, describe);
      if (!isNew) return;
      write(text);
      clearInterval(timer);
      timer = setInterval(writeAgain, LINE_INTERVAL).unref();
    },
    stalled(response) {
      if (timer === undefined) return false;
      activity = { ...activity, stalled: response };
      return true;
    },
    whilePaused: (action) => action(),
    stop: () => clearInterval(timer),
  };
}

/** Draws a spinner with the text, from a moment after the first update on. */
export function createSpinner(
  stream: NodeJS.WriteStream,
  terminal: Terminal,
  redact: Redact,
): Progress {
  let activity = activityOf('');
  let timer: NodeJS.Timeout | undefined;
  let spinner: Ora | undefined;
  let stopped = false;
  let paused = false;

  const textNow = () => printable(redact(activity.describe(activity.stalled)));
  const begin = async () => {
    const loaded = await loadSpinner(stream, terminal, textNow);
    if (stopped) return;
    spinner = loaded;
    if (!paused) spinner.start();
  };
  const pause = () => {
    // If it does not spin, ora would still move the cursor.
    if (spinner?.isSpinning) spinner.stop();
  };

  return {
    update(text, describe) {
      activity = activityOf(text, describe);
      timer ??= setTimeout(() => void begin().catch(() => {}), FIRST_FRAME_DELAY).unref();
    },
    stalled(response) {
      if (timer === undefined) return false;
      activity = { ...activity, stalled: response };
      return true;
    },
    async whilePaused(write) {
      paused = true;
      pause();
      // A write that fails leaves it paused: the terminal may be gone or stand still.
      const result = await write();
      paused = false;
      if (!stopped) spinner?.start();
      return result;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
      pause();
    },
  };
}

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
    // ora would erase lines without end in a window of 0 columns.
    if (!(stream.columns > 0)) spinner.isSilent = true;
    const width = Math.max(0, stream.columns - RESERVED);
    spinner.text = cutMiddle(textNow(), width, terminal.unicode, MAX_HEAD);
    return '';
  };
  return spinner;
}
