// Formats errors and notices for stderr, as text or as JSON.

import { stripVTControlCharacters } from 'node:util';
import type { ErrorCode, ErrorDetails, ImgctlError } from '../errors.ts';
import type { Facts } from '../facts.ts';
import type { Redaction } from './redaction.ts';
import { PLAIN, type Style } from './terminal.ts';
import { printable, wrapWords } from './text.ts';

export interface ErrorFormat {
  /** One JSON object per line instead of text. */
  readonly json: boolean;
  /** Adds the stack trace of the error or of its cause. */
  readonly debug: boolean;
  /** Masks secrets. It runs before escaping, which would hide them. */
  readonly redact?: Redaction['apply'] | undefined;
  /** Colours of text; JSON has none [none]. */
  readonly style?: Style;
  /** Returns the hint that facts stand for [their text]. */
  readonly hintOf?: (facts: string | Facts) => string;
  /** Cells per line of a terminal, where all but hints and notes, which users copy, is wrapped between words. */
  readonly width?: number | undefined;
}

/** An error or a notice as programs read it, without secrets and control characters. */
export interface Message {
  readonly kind: NoticeKind | 'error';
  readonly content: CleanContent & {
    readonly code?: ErrorCode | undefined;
    readonly status?: number | undefined;
    readonly exitCode?: number;
  };
}

export function errorMessage(error: ImgctlError, format: ErrorFormat): Message {
  const { code, message, details, facts, status, exitCode } = error;
  const content = cleanContent({ message, details, hint: facts }, format);
  return { kind: 'error', content: { code, ...content, status, exitCode } };
}

export function noticeMessage(
  kind: NoticeKind,
  { code, ...notice }: Notice,
  format: ErrorFormat,
): Message {
  return { kind, content: { code, ...cleanContent(notice, format) } };
}

function jsonLine({ kind, content }: Message): string {
  return `${JSON.stringify({ [kind]: content })}\n`;
}

/** Returns the text of an error for stderr: complete lines, safe for a terminal. */
export function formatError(error: ImgctlError, format: ErrorFormat): string {
  const message = errorMessage(error, format);
  const { style = PLAIN } = format;
  const text = format.json
    ? jsonLine(message)
    : labelledText(message.content, format, style.bad('imgctl:'));
  if (!format.debug) return text;
  const { stack = '' } = error.cause instanceof Error ? error.cause : error;
  const trace = stack.split('\n').map((message) => formatNotice('debug', { message }, format));
  return text + trace.join('');
}

export type NoticeKind = 'warning' | 'note' | 'debug';

export interface Notice extends Content {
  /** The code of an error that does not end the run; only JSON has it. */
  readonly code?: ErrorCode | undefined;
}

/** Returns the text of a notice; in JSON the kind is the member name. @param mark starts it */
export function formatNotice(
  kind: NoticeKind,
  notice: Notice,
  format: ErrorFormat,
  mark?: string,
): string {
  const message = noticeMessage(kind, notice, format);
  if (format.json) return jsonLine(message);
  const { style = PLAIN } = format;
  const paint = { warning: style.waiting, note: style.faint, debug: style.faint }[kind];
  const label = kind === 'note' ? 'imgctl:' : `imgctl: ${paint(`${kind}:`)}`;
  const mayWrap = mark !== undefined || kind === 'warning';
  return labelledText(
    message.content,
    mayWrap ? format : { ...format, width: undefined },
    mark ?? label,
  );
}

interface Content extends Pick<ErrorDetails, 'details'> {
  readonly message: string;
  readonly hint?: string | Facts | undefined;
}

interface CleanContent extends Omit<Content, 'hint'> {
  readonly hint: string | undefined;
}

function textOf(facts: string | Facts): string {
  if (typeof facts === 'string') return facts;
  return facts.kind === 'advice' ? facts.text : facts.kind;
}

function cleanContent({ message, details, hint }: Content, format: ErrorFormat): CleanContent {
  const { hintOf = textOf } = format;
  return {
    message: clean(message, format),
    details: details?.map((line) => cleanDetail(line, format)),
    hint: hint === undefined ? undefined : cleanHint(hintOf(hint), format),
  };
}

/** Masks no secrets: names of images and files are data. */
function cleanDetail(line: string, { width, json }: ErrorFormat): string {
  const text = printable(line);
  return width === undefined || json ? text : wrapWords(text, width - 2, '  ').join('\n  ');
}

/** A command in a hint that chooses images repeats words of the query. */
function cleanHint(hint: string, format: ErrorFormat): string {
  const at = hint.search(/\bimgctl (?:images|my-images)\b/);
  if (at === -1) return clean(hint, format);
  return clean(hint.slice(0, at), format) + clean(hint.slice(at), format, true);
}

function labelledText(
  { message, hint, details = [] }: CleanContent,
  { style = PLAIN, width }: ErrorFormat,
  label: string,
): string {
  // The label may have colours.
  const blank = '_'.repeat(stripVTControlCharacters(label).length + 1);
  const text = width ? wrapWords(blank + message, width, '    ').join('\n') : blank + message;
  const lines = [`${label} ${text.slice(blank.length)}`, ...details.map((line) => `  ${line}`)];
  if (hint !== undefined) lines.push(`${style.hint('hint:')} ${hint}`);
  return `${lines.join('\n')}\n`;
}

/** Masks secrets, and escapes what would harm a terminal. @param isQuery see Redaction.apply */
export function clean(text: string, { redact = String }: ErrorFormat, isQuery = false): string {
  return printable(redact(text, isQuery));
}
