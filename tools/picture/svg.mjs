// Draws lines of a terminal as SVG, with selectable text in the colours of the reader's theme.

/** In pixels. The font is the reader's own; the cells of common fonts have at most this width. */
const FONT_SIZE = 14;
const CELL = 8.43;
const LINE = 20;
const PADDING = 16;

const STYLE = `
    rect { fill: #ffffff; stroke: #d0d7de; }
    text {
      fill: #1f2328;
      font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
      font-size: ${FONT_SIZE}px;
      white-space: pre;
    }
    .bold { font-weight: bold; }
    .green { fill: #116329; font-weight: bold; }
    @media (prefers-color-scheme: dark) {
      rect { fill: #0d1117; stroke: #30363d; }
      text { fill: #e6edf3; }
      .green { fill: #7ee787; }
    }
  `;

/** Escape sequences, and the class of the text that follows; undefined resets it. */
const CLASSES = new Map([
  ['1', 'bold'],
  ['32', 'green'],
  ['22', undefined],
  ['39', undefined],
]);

/** Returns the file for these lines with their escape sequences. */
export function drawTerminal(lines, { columns, title, description }) {
  const width = Math.ceil(columns * CELL) + 2 * PADDING;
  const height = lines.length * LINE + 2 * PADDING;
  const rows = lines.map((line, index) => draw(line, PADDING + (index + 0.75) * LINE));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">
  <title id="title">${escapeXml(title)}</title>
  <desc id="description">${escapeXml(description)}</desc>
  <style>${STYLE}</style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${rows.filter((row) => row !== '').join('\n')}
</svg>
`;
}

function draw(line, y) {
  let style;
  let spans = '';
  for (const [index, part] of line.split(/\u001b\[(\d+)m/).entries()) {
    if (index % 2 === 1) {
      if (!CLASSES.has(part)) throw new Error(`no class for the escape sequence ${part}`);
      style = CLASSES.get(part);
    } else if (part !== '') {
      const text = escapeXml(part);
      spans += style === undefined ? text : `<tspan class="${style}">${text}</tspan>`;
    }
  }
  return spans && `  <text x="${PADDING}" y="${y}" xml:space="preserve">${spans}</text>`;
}

function escapeXml(text) {
  if (/[\u0000-\u001f\u007f]/.test(text))
    throw new Error(`a control character in: ${JSON.stringify(text)}`);
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
