// Formats errors and notices for stderr, as text or as JSON.

import { stripVTControlCharacters } from 'node:util';
import type { ErrorCode, ErrorDetails, ImgctlError } from '../errors.ts';
import type { Advice } from '../facts.ts';
import type { Redaction } from './redaction.ts';
import type { Style } from './style.ts';
import { clean, printable, wrapWords } from './text.ts';

export interface MessageFormat {
  /** One JSON object per line instead of text. */
  readonly json: boolean;
  /** Masks secrets. It runs before escaping, which would hide them. */
  readonly redact: Redaction['apply'];
  /** Colours of text; JSON has none. */
  readonly style: Style;
  /** Returns the hint that facts stand for. */
  readonly hintOf: (facts: Advice) => string;
  /** Cells per line of a terminal. */
  readonly width: number | undefined;
  readonly unicode: boolean;
}

export interface Notice extends Pick<ErrorDetails, 'details'> {
  readonly message: string;
  readonly hint?: Advice | undefined;
  /** The code of an error that does not end the run; only JSON has it. */
  readonly code?: ErrorCode | undefined;
}

/** An error or a notice as programs read it: no control characters, and secrets only in details. */
export interface Message {
  readonly kind: 'error' | 'warning' | 'note' | 'debug';
  readonly content: Omit<Notice, 'hint'> & {
    readonly hint: string | undefined;
    readonly status?: number | undefined;
    readonly exitCode?: number;
  };
}

export function errorMessage(error: ImgctlError, format: MessageFormat): Message {
  const { code, message, details, facts, status, exitCode } = error;
  const content = cleanContent({ code, message, details, hint: facts }, format);
  return { kind: 'error', content: { ...content, status, exitCode } };
}

export function noticeMessage(label: Label, notice: Notice, format: MessageFormat): Message {
  return { kind: LABELS[label].kind, content: cleanContent(notice, format) };
}

function cleanContent({ code, message, details, hint }: Notice, format: MessageFormat) {
  return {
    code,
    message: clean(message, format.redact),
    // Not masked: names of images and files are data.
    details: details?.map(printable),
    hint: hint === undefined ? undefined : clean(format.hintOf(hint), format.redact),
  };
}

/** The kind of a message, and how its first line begins. */
function labelOf(kind: Message['kind'], begin: (format: MessageFormat) => string) {
  return { kind, begin };
}

/**
 * Parts are packages, files or problems of several: on a terminal their lines, and those of
 * successes, begin with a mark.
 */
const LABELS = {
  error: labelOf('error', ({ style }) => style.bad('imgctl:')),
  failure: labelOf('warning', ({ style }) => `imgctl: ${style.bad('error:')}`),
  warning: labelOf('warning', ({ style }) => `imgctl: ${style.caution('warning:')}`),
  note: labelOf('note', () => 'imgctl:'),
  debug: labelOf('debug', ({ style }) => `imgctl: ${style.faint('debug:')}`),
  'failed part': labelOf('warning', ({ style, unicode }) => style.bad(unicode ? '✗' : 'failed:')),
  'part with a warning': labelOf('warning', ({ style }) => style.caution('!')),
  success: labelOf('note', ({ style, unicode }) => style.good(unicode ? '✓' : 'ok:')),
  'success with warnings': labelOf('note', ({ style }) => style.caution('!')),
};
export type Label = keyof typeof LABELS;

/** Returns complete lines for stderr, safe for a terminal. */
export function formatMessage(
  { kind, content }: Message,
  format: MessageFormat,
  label: Label,
): string {
  if (format.json) return `${JSON.stringify({ [kind]: content })}\n`;
  const { message, hint, details = [] } = content;
  const beginning = LABELS[label].begin(format);
  // Users copy commands of notes and hints, so those are not wrapped.
  const isWrapped = label !== 'note' && label !== 'debug';
  const width = (isWrapped ? format.width : undefined) ?? Number.POSITIVE_INFINITY;
  // Colours take no cells. The first word stays beside the beginning, however long that is.
  const used = stripVTControlCharacters(beginning).length + 1;
  const lines = [`${beginning} ${wrapWords(message, width, { indent: '    ', used }).join('\n')}`];
  for (const detail of details) {
    lines.push(`  ${wrapWords(detail, width - 2, { indent: '  ' }).join('\n  ')}`);
  }
  if (hint !== undefined) lines.push(`${format.style.hint('hint:')} ${hint}`);
  return [...lines, ''].join('\n');
}

/** Returns the stack trace of the error, or of its cause, as debug lines. */
export function formatTrace(error: ImgctlError, format: MessageFormat): string {
  const { stack = '' } = error.cause instanceof Error ? error.cause : error;
  // Masked before it is split: a secret may have a line break.
  const lines = format.redact(stack).split('\n');
  const messages = lines.map(
    (line): Message => ({ kind: 'debug', content: { message: printable(line), hint: undefined } }),
  );
  return messages.map((message) => formatMessage(message, format, 'debug')).join('');
}
