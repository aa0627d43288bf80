// Edits a line key by key, as a terminal does by itself if it echoes what is typed.

const ESC = '\u001b';
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const CTRL_U = '\u0015';
const CTRL_W = '\u0017';
const CTRL_BACKSLASH = '\u001c';
const DELETE = '\u007f';

/**
 * The beginning of a sequence that a key sends, and a whole one: ECMA-48's CSI (`\e[1;5C`), SS3
 * (`\eOP`) and F1 to F5 of the Linux console (`\e[[A`).
 */
const SEQUENCE_SO_FAR = /^\u001b(?:\[(?:\[|[ -?]{0,30})|O)?$/;
const WHOLE_SEQUENCE = /^\u001b(?:\[(?:\[[A-E]|[ -?]{0,30}[@-Z\\-~])|O[ -~])$/;

export class LineEditor {
  readonly #characters: string[] = [];
  /** What has come of a sequence; it may arrive in pieces. */
  #sequence = '';

  get text(): string {
    return this.#characters.join('');
  }

  /** Takes a key. @returns what it means, unless it only edits the line */
  press(key: string): 'enter' | 'end' | 'interrupted' | 'quit' | undefined {
    if (this.#takeSequenceKey(key)) return undefined;
    const line = this.#characters;
    if (key === '\r' || key === '\n') return 'enter';
    if (key === CTRL_C) return 'interrupted';
    if (key === CTRL_BACKSLASH) return 'quit';
    if (key === CTRL_D && line.length === 0) return 'end';
    if (key === CTRL_U) line.length = 0;
    else if (key === CTRL_W) line.length = lengthWithoutWord(line);
    else if (key === '\b' || key === DELETE) line.pop();
    else if (key >= ' ') line.push(key);
    return undefined;
  }

  /** Takes a key of a sequence, such as that of an arrow, which edits nothing. @returns true if it is one */
  #takeSequenceKey(key: string): boolean {
    const sequence = this.#sequence + key;
    if (SEQUENCE_SO_FAR.test(sequence)) {
      this.#sequence = sequence;
      return true;
    }
    // With Alt, some terminals send another ESC before the sequence of an arrow.
    this.#sequence = key === ESC ? key : '';
    return key === ESC || WHOLE_SEQUENCE.test(sequence);
  }
}

/** As a terminal erases the last word: with the spaces after it. */
function lengthWithoutWord(line: readonly string[]): number {
  const end = line.findLastIndex((character) => character !== ' ');
  return line.slice(0, end + 1).lastIndexOf(' ') + 1;
}
