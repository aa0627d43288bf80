// Lock files, which pin images by name: stable in order and layout, so that they diff well.

import type { ReceivedImage } from '../api/types.ts';
import { ImgctlError } from '../errors.ts';
import { isObject, type JsonObject } from '../json.ts';
import { compareText } from '../query/fields.ts';
import { versionOf } from '../query/series.ts';
import { parseTimestamp } from '../query/timestamp.ts';
import { compareVersions } from '../query/version.ts';
import type { FileLabel } from './snapshot.ts';

const VERSION = 1;

/** A type, since an interface has no index signature. */
export type Pin = {
  readonly text: readonly string[];
  readonly filters: readonly string[];
  readonly id: number;
  readonly name: string | null;
  readonly path: string | null;
  readonly created_on: string | null;
  readonly updated_on: string | null;
};

export type Pins = ReadonlyMap<string, Pin>;

/** @throws ImgctlError bad-answer: the image has no id */
export function pinOf(
  { text, filters }: Pick<Pin, 'text' | 'filters'>,
  { id, ...image }: ReceivedImage,
): Pin {
  if (typeof id !== 'number') {
    throw new ImgctlError('bad-answer', 'the image cannot be locked without a numeric id');
  }
  const textOrNull = (value: unknown) => (typeof value === 'string' ? value : null);
  return {
    text,
    filters,
    id,
    name: textOrNull(image.name),
    path: textOrNull(image.path),
    created_on: textOrNull(image.created_on),
    updated_on: textOrNull(image.updated_on),
  };
}

export function formatLockFile(pins: Pins): string {
  const images = [...pins].sort(([left], [right]) => compareText(left, right));
  const content = { version: VERSION, images: Object.fromEntries(images) };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** @throws ImgctlError config: damaged, newer or not a lock file */
export function parseLockFile(text: string, { what, hint }: FileLabel): Map<string, Pin> {
  const invalid = (problem: string) => new ImgctlError('config', `${what} ${problem}`, { hint });
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw invalid('is not valid JSON');
  }
  const { version, images } = isObject(content) ? content : {};
  if (typeof version === 'number' && version > VERSION) {
    throw new ImgctlError('config', `${what} has the newer format ${version}`, {
      hint: 'upgrade imgctl to read it',
    });
  }
  if (version !== VERSION || !isObject(images)) throw invalid('has an unknown format');
  return new Map(
    Object.entries(images).map(([name, pin]) => {
      // Without members of other programs.
      if (isObject(pin) && isPin(pin)) return [name, pinOf(pin, pin)];
      throw invalid(`is damaged at ${name}`);
    }),
  );
}

function isPin(pin: JsonObject): pin is Pin {
  const isText = (value: unknown) => typeof value === 'string';
  const isList = (value: unknown) => Array.isArray(value) && value.every(isText);
  const texts = [pin.name, pin.path, pin.created_on, pin.updated_on];
  const hasImage =
    Number.isSafeInteger(pin.id) && texts.every((text) => text === null || isText(text));
  return isList(pin.text) && isList(pin.filters) && hasImage;
}

export type PinState = 'ok' | 'newer' | 'moved' | 'replaced' | 'gone';

/** The states of a pin that no longer holds. */
export const BROKEN_STATES: readonly PinState[] = ['gone', 'replaced', 'moved'];

/**
 * Compares a pin with the image of its id.
 * @param newest the newest image of its series
 */
export function stateOf(
  pin: Pin,
  live: ReceivedImage | undefined,
  newest: ReceivedImage | undefined,
): PinState {
  if (live === undefined) return 'gone';
  if ((live.updated_on ?? null) !== pin.updated_on) return 'replaced';
  if ((live.path ?? null) !== pin.path || (live.name ?? null) !== pin.name) return 'moved';
  return newest !== undefined && isNewer(newest, pin) ? 'newer' : 'ok';
}

/** The same order as that of images latest; a tie is not newer. */
function isNewer(image: ReceivedImage, pin: Pin): boolean {
  const [version, pinned] = [versionOf(image), versionOf(pin)];
  if (version === undefined || pinned === undefined) return false;
  const order = compareVersions(version, pinned);
  const created = parseTimestamp(`${image.created_on}`) ?? Number.NaN;
  const before = parseTimestamp(`${pin.created_on}`) ?? Number.NaN;
  return order > 0 || (order === 0 && created > before);
}
