// Reads the headers that tell more about the next member: pax records and GNU's long names.

import { parseText } from './tar-header.ts';

/** What replaces fields of the next member's own header. */
export interface TarExtension {
  readonly name?: string;
  readonly size?: number;
}

/** How many bytes of such a header are read at most. */
export const LONGEST_EXTENSION = 32 * 1024;

const PAX = 'x';
const PAX_GLOBAL = 'g';
const GNU_LONG_NAME = 'L';
const GNU_LONG_LINK = 'K';

/** Whether a header of this type tells about the next member instead of being one. */
export function isExtension(type: string): boolean {
  return [PAX, PAX_GLOBAL, GNU_LONG_NAME, GNU_LONG_LINK].includes(type);
}

export function isPax(type: string): boolean {
  return type === PAX || type === PAX_GLOBAL;
}

/** What the content of such a header says, or null where it can't be understood. */
export function parseExtension(type: string, content: Buffer): TarExtension | null {
  if (type === GNU_LONG_NAME) return { name: parseText(content) };
  if (type === PAX) return parsePax(content);
  return {};
}

/** Records of the form `<length> <key>=<value>\n`, the length being that of the whole record. */
function parsePax(content: Buffer): TarExtension | null {
  const found: { name?: string; size?: number } = {};
  let position = 0;
  while (position < content.length) {
    const length = /^([1-9]\d{0,6}) /.exec(content.toString('latin1', position, position + 8))?.[1];
    if (length === undefined) return null;
    const end = position + Number(length);
    const record = content.toString('utf8', position + length.length + 1, end);
    const [, key, value] = /^([^=]*)=(.*)\n$/s.exec(record) ?? [];
    if (end > content.length || key === undefined || value === undefined) return null;
    if (key === 'path') found.name = value;
    if (key === 'size') {
      if (!/^\d{1,16}$/.test(value) || !Number.isSafeInteger(Number(value))) return null;
      found.size = Number(value);
    }
    position = end;
  }
  return found;
}
