// The lines of errors and notices, as the console puts them together.

import type { ImgctlError } from '../../src/errors.ts';
import {
  type ErrorFormat,
  errorMessage,
  formatMessage,
  formatTrace,
  type Label,
  type Notice,
  type NoticeKind,
  noticeMessage,
} from '../../src/output/messages.ts';

export function formatError(error: ImgctlError, format: ErrorFormat): string {
  const trace = format.debug ? formatTrace(error, format) : '';
  return formatMessage(errorMessage(error, format), format) + trace;
}

export function formatNotice(
  kind: NoticeKind,
  notice: Notice,
  format: ErrorFormat,
  label?: Label,
): string {
  return formatMessage(noticeMessage(kind, notice, format), format, label);
}
