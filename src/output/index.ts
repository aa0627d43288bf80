// What commands show their data by; what is said on stderr goes by progress.ts, redaction.ts and sanitize.ts.

export type { Row, TimeFields } from './cells.ts';
export {
  defaultTimeStyle,
  FORMATS,
  type Format,
  isFormat,
  type ListOptions,
  type RecordOptions,
  type ValueOptions,
} from './format.ts';
export { createListWriter, createValueWriter, type ListWriter } from './list.ts';
export { writeRecord } from './record.ts';
export { counted, shellQuote } from './words.ts';
