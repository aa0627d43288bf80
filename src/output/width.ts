// Measures and cuts text by the cells that it takes on a terminal.

/** Needs no escapes, and has as many cells as characters. */
export const ASCII = /^[ -~]*$/;

const JOINING = /[\u200d\ufe0f\u20e3\p{Regional_Indicator}\p{Emoji_Modifier}]/u;
const EMOJI =
  /\p{Emoji_Presentation}|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]|^[0-9#*]\ufe0f?\u20e3/u;

// Combining marks, joiners, and Hangul vowels and finals, which join the syllable before them.
const NO_CELL = /[\p{Mn}\p{Me}\u200c-\u200d\u1160-\u11ff\ud7b0-\ud7fb]/u;

// East Asian Wide and Fullwidth (UAX 11); JavaScript has no property for them.
const TWO_CELLS =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18df2}\u{1aff0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

/** Returns the number of cells; the text must not contain control characters. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  let width = 0;
  for (const part of widthsOf(text)) width += part;
  return width;
}

function* widthsOf(text: string): Generator<number> {
  // Segmenting takes ten times as long as adding up characters, and few texts need it.
  if (JOINING.test(text)) {
    for (const cluster of clustersOf(text)) yield clusterWidth(cluster);
    return;
  }
  for (let start = 0, end = 0; start < text.length; start = end) {
    const piece = pieceAt(text, start);
    end = start + piece.length;
    yield sumOfWidths(piece);
  }
}

/** Returns the text, cut with an ellipsis if it is wider than `width` cells. */
export function cutToWidth(text: string, width: number, unicode: boolean): string {
  if (displayWidth(text) <= width) return text;
  const ellipsis = (unicode ? '…' : '...').slice(0, width);
  return startOf(text, width - ellipsis.length) + ellipsis;
}

/** Returns as much of the beginning as fits into these cells. */
export function startOf(text: string, cells: number): string {
  if (ASCII.test(text)) return text.slice(0, Math.max(0, cells));
  let start = '';
  let used = 0;
  for (const cluster of clustersOf(text)) {
    used += clusterWidth(cluster);
    if (used > cells) break;
    start += cluster;
  }
  return start;
}

/** Returns as much of the end as fits into these cells. */
export function endOf(text: string, cells: number): string {
  if (cells <= 0) return '';
  if (ASCII.test(text)) return text.slice(-cells);
  // Segmenting a long text would take long. The first cluster of a part may be incomplete.
  const part = text.slice(-PIECE_LENGTH - 16 * cells);
  const clusters = [...clustersOf(part)].slice(part === text ? 0 : 1);
  let first = clusters.length;
  for (let used = 0; first > 0; first -= 1) {
    used += clusterWidth(clusters[first - 1] ?? '');
    if (used > cells) break;
  }
  return clusters.slice(first).join('');
}

/** UTF-16 units to segment at a time: Intl.Segmenter takes quadratic time on long texts. */
const PIECE_LENGTH = 256;

/** Returns what a reader sees as characters. */
export function* clustersOf(text: string): Generator<string> {
  const segmenter = new Intl.Segmenter('en');
  let start = 0;
  while (start < text.length) {
    const piece = pieceAt(text, start);
    const isLast = start + piece.length === text.length;
    for (const { segment, index } of segmenter.segment(piece)) {
      const mayContinue = !isLast && index > 0 && index + segment.length === piece.length;
      if (mayContinue) break; // the next piece begins with it
      yield segment;
      start += segment.length;
    }
  }
}

/** Returns the next piece. A full one does not end with the first half of a character. */
function pieceAt(text: string, start: number): string {
  const piece = text.slice(start, start + PIECE_LENGTH);
  return piece.length < PIECE_LENGTH ? piece : piece.replace(/[\ud800-\udbff]$/, '');
}

function clusterWidth(cluster: string): number {
  return EMOJI.test(cluster) ? 2 : sumOfWidths(cluster);
}

function sumOfWidths(text: string): number {
  let width = 0;
  for (const character of text) {
    if (NO_CELL.test(character)) continue;
    width += TWO_CELLS.test(character) ? 2 : 1;
  }
  return width;
}
