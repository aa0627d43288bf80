// How many cells of a terminal a text takes, and texts cut to a number of cells.

const ASCII = /^[ -~]*$/;

/** Characters that make their whole cluster something else than the sum of its parts. */
const JOINING = /[\u200d\ufe0f\u20e3\p{Regional_Indicator}\p{Emoji_Modifier}]/u;
const EMOJI =
  /\p{Emoji_Presentation}|\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]|^[0-9#*]\ufe0f?\u20e3/u;

// Combining marks, joiners, and the Hangul vowels and finals that join the syllable before them.
const NO_CELL = /[\p{Mn}\p{Me}\u200c-\u200d\u1160-\u11ff\ud7b0-\ud7fb]/u;

// East Asian Wide and Fullwidth (UAX 11), which JavaScript has no property for.
const TWO_CELLS =
  /[\p{Emoji_Presentation}\u1100-\u115f\u2329\u232a\u2630-\u2637\u268a-\u268f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18df2}\u{1aff0}-\u{1b2fb}\u{1d300}-\u{1d376}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

/** Width of a text without control characters, in cells. */
export function displayWidth(text: string): number {
  if (ASCII.test(text)) return text.length;
  // Finding the clusters takes ten times as long as adding up characters, and few texts need it.
  if (!JOINING.test(text)) return sumOfWidths(text);
  let width = 0;
  for (const cluster of clustersOf(text)) width += clusterWidth(cluster);
  return width;
}

/**
 * All of the text if it fits into `width` cells, else its longest beginning that fits with an ellipsis:
 * `…`, or `...` where the terminal shows ASCII only.
 */
export function cutToWidth(text: string, width: number, unicode: boolean): string {
  if (displayWidth(text) <= width) return text;
  const mark = (unicode ? '…' : '...').slice(0, width);
  const room = width - mark.length;
  if (ASCII.test(text)) return text.slice(0, room) + mark;
  let kept = '';
  let used = 0;
  for (const cluster of clustersOf(text)) {
    used += clusterWidth(cluster);
    if (used > room) break;
    kept += cluster;
  }
  return kept + mark;
}

/** UTF-16 units that are searched for clusters at a time: in long texts each next one takes ever longer. */
const PIECE = 256;

function* clustersOf(text: string): Generator<string> {
  const segmenter = new Intl.Segmenter('en');
  let start = 0;
  while (start < text.length) {
    const isLast = start + PIECE >= text.length;
    const most = text.slice(start, start + PIECE);
    const piece = isLast ? most : most.replace(/[\ud800-\udbff]$/, '');
    for (const { segment, index } of segmenter.segment(piece)) {
      const mayGoOn = !isLast && index > 0 && index + segment.length === piece.length;
      if (mayGoOn) break; // the next piece begins with it
      yield segment;
      start += segment.length;
    }
  }
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
