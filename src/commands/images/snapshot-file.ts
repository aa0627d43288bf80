// Snapshots of the catalogue: JSON with one line per image, for small diffs and fast reading.

import path from 'node:path';
import { idFlaw } from '../../api/images.ts';
import type { ReceivedImage } from '../../api/types.ts';
import { ImgctlError } from '../../errors.ts';
import type { Facts } from '../../facts.ts';
import { readTextFile } from '../../files/user-file.ts';
import type { Io } from '../../io.ts';
import {
  isObject,
  type JsonObject,
  parseFile,
  parseJson,
  stringify,
  yieldToEventLoop,
} from '../../json.ts';

const VERSION = 1;

export interface Snapshot {
  /** All members but the images. */
  readonly head: JsonObject;
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
  readonly baseUrl: string;
  /** The JSON of each image. */
  readonly lines: readonly string[];
}

export interface SavedSnapshot extends Snapshot {
  readonly file: FileLabel;
  /** Parses the lines. @throws ImgctlError config */
  images(): Promise<ReceivedImage[]>;
}

export interface FileLabel {
  /** `the snapshot catalogue.json` */
  readonly what: string;
  /** Facts if it is damaged. */
  readonly damaged: string | Facts;
  /** Facts if it is a file of another kind, which must not be replaced. */
  readonly foreign: string | Facts;
}

const HEAD_END = '"images":[\n';
const END = '\n]}\n';

/** @param head has `taken_at`, in ISO 8601, and `base_url` @param lines the JSON of each image */
export function formatSnapshot(head: JsonObject, lines: readonly string[]): string {
  const start = stringify({ version: VERSION, ...head }).slice(0, -1);
  return `${start},${HEAD_END}${lines.join(',\n')}${END}`;
}

/** Reads a snapshot, also a compressed one, but parses no images. @throws ImgctlError config */
export async function readSnapshot(
  name: string,
  io: Pick<Io, 'cwd' | 'signal'>,
): Promise<SavedSnapshot> {
  const unusable = { kind: 'snapshot', file: name } as const;
  const foreign = { kind: 'snapshot', file: undefined } as const;
  const file = { what: `the snapshot ${name}`, damaged: unusable, foreign };
  const text = await readTextFile(path.resolve(io.cwd, name), file.what, io, {
    factsIfDamaged: unusable,
  });
  if (text === undefined) {
    const facts = name === '-' ? 'to read standard input, use /dev/stdin' : unusable;
    throw new ImgctlError('config', `${name} does not exist`, { facts });
  }
  const snapshot = parseSnapshot(text, file);
  return { ...snapshot, file, images: () => parseLines(snapshot.lines, file) };
}

/** Also parses a snapshot that another program has formatted. @throws ImgctlError config */
export function parseSnapshot(text: string, file: FileLabel): Snapshot {
  const { head, lines } = divide(text) ?? parseWhole(text, file);
  const { version, taken_at, base_url } = head;
  if (typeof version === 'number' && version > VERSION) {
    const message = `${file.what} has the newer format ${version}`;
    throw new ImgctlError('config', message, { facts: 'upgrade imgctl to read it' });
  }
  const takenAt = typeof taken_at === 'string' ? Date.parse(taken_at) : Number.NaN;
  if (version !== VERSION || Number.isNaN(takenAt) || typeof base_url !== 'string') {
    throw formatError(file);
  }
  return { head, takenAt, baseUrl: base_url, lines };
}

/** Divides the text into its lines, which takes much less time and memory than parsing it. */
function divide(text: string): Pick<Snapshot, 'head' | 'lines'> | undefined {
  const start = text.indexOf('\n') + 1;
  if (!text.startsWith(HEAD_END, start - HEAD_END.length) || !text.endsWith(END)) return undefined;
  // The head ends with the start of the list of images.
  const { value, twice } = parseFile(`${text.slice(0, start)}null]}`);
  if (!isObject(value) || twice !== undefined) return undefined;
  const { images: _, ...head } = value;
  const body = text.slice(start, -END.length);
  return { head, lines: body === '' ? [] : body.split(',\n') };
}

function parseWhole(text: string, file: FileLabel): Pick<Snapshot, 'head' | 'lines'> {
  const { value, twice } = parseFile(text);
  const mayBeSnapshot = text === '' || text.startsWith('{');
  if (value === undefined) throw mayBeSnapshot ? damagedError(file) : formatError(file);
  if (!isObject(value) || !Array.isArray(value.images)) throw formatError(file);
  if (twice !== undefined) {
    throw new ImgctlError('config', `${file.what} has ${twice} twice`, { facts: file.damaged });
  }
  const { images, ...head } = value;
  return { head, lines: images.map((image) => stringify(image)) };
}

/** Far below the limits of parseJson. */
const LINES_AT_ONCE = 200;
const LINES_PER_TURN = 10_000;

/** Returns the images of lines. @throws ImgctlError config: a line is damaged */
export async function parseLines(lines: readonly string[], file: FileLabel) {
  const images: ReceivedImage[] = [];
  for (let start = 0; start < lines.length; start += LINES_AT_ONCE) {
    if (start % LINES_PER_TURN === 0) await yieldToEventLoop();
    const some = lines.slice(start, start + LINES_AT_ONCE);
    const { value } = parseJson(Buffer.from(`[${some.join(',')}]`));
    if (!Array.isArray(value) || value.length !== some.length) throw damagedError(file);
    for (const image of value) {
      if (!isObject(image)) throw damagedError(file);
      const flaw = idFlaw(image);
      if (flaw) throw damagedError(file, `: ${flaw}`);
      images.push(image);
    }
  }
  return images;
}

function damagedError({ what, damaged: facts }: FileLabel, reason = ''): ImgctlError {
  return new ImgctlError('config', `${what} is damaged${reason}`, { facts });
}

function formatError({ what, foreign: facts }: FileLabel): ImgctlError {
  return new ImgctlError('config', `${what} has an unknown format`, { facts });
}
