// The lines of errors and notices, as the console puts them together.

import type { ImgctlError } from '../../src/errors.ts';
import {
  errorMessage,
  formatMessage,
  formatTrace,
  type Label,
  type MessageFormat,
  type Notice,
  type NoticeKind,
  noticeMessage,
} from '../../src/output/messages.ts';

export function formatError(error: ImgctlError, format: MessageFormat, debug = false): string {
  const trace = debug ? formatTrace(error, format) : '';
  return formatMessage(errorMessage(error, format), format) + trace;
}

export function formatNotice(
  kind: NoticeKind,
  notice: Notice,
  format: MessageFormat,
  label?: Label,
): string {
  return formatMessage(noticeMessage(kind, notice, format), format, label);
}
