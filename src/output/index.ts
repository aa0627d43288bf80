// The interface of this folder for commands; terminal.ts and progress.ts are the other two.

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
export { counted, shellWord } from './words.ts';
