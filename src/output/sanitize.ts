// Makes text from elsewhere harmless before it reaches a terminal, an error line or a spinner.

// C0, DEL and C1 controls, line and paragraph separators, and the marks that reorder or hide text
// (bidi controls, zero-width no-break space, Arabic letter mark, deprecated format characters, tags).
const HARMFUL =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** The text on one line, each harmful character as a visible `\u` escape. */
export function printable(text: string): string {
  return text.replace(HARMFUL, escapeCharacter);
}

/** A character as JSON would write it: `\n`, `\u001b`, or two `\u` for one beyond the first plane. */
export function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  let escaped = '';
  for (let index = 0; index < character.length; index += 1) {
    escaped += `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
