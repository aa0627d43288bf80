// The lines of errors and notices, as the console puts them together.

import type { ImgctlError } from '../../src/errors.ts';
import {
  errorMessage,
  formatMessage,
  formatTrace,
  type Label,
  type MessageFormat,
  type Notice,
  noticeMessage,
} from '../../src/output/messages.ts';

export function formatError(error: ImgctlError, format: MessageFormat, debug = false): string {
  const trace = debug ? formatTrace(error, format) : '';
  return formatMessage(errorMessage(error, format), format, 'error') + trace;
}

export function formatNotice(label: Label, notice: Notice, format: MessageFormat): string {
  return formatMessage(noticeMessage(label, notice, format), format, label);
}
