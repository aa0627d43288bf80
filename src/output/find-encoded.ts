// Finds texts in another one, however their characters are encoded there.

import { ESCAPES, readingsAt } from './encodings.ts';

export interface Range {
  readonly start: number;
  readonly end: number;
}

/** A text to find. White space is one space, since messages collapse it and forms send it as +. */
export interface Form {
  readonly text: string;
  /** Characters that must match; the rest is followed as far as it goes, for texts that are cut. */
  readonly required: number;
}

export type FormIndex = ReadonlyMap<number, readonly Form[]>;

/** Groups forms by their first UTF-16 unit. */
export function indexForms(forms: readonly Form[]): FormIndex {
  const index = new Map<number, Form[]>();
  for (const form of forms) {
    const first = form.text.charCodeAt(0);
    index.set(first, [...(index.get(first) ?? []), form]);
  }
  return index;
}

/**
 * Returns where the forms are, plain or escaped for JSON, HTML or URLs, several times too.
 * @param text folded, as the forms are
 * @param from where a form may begin, up to `to`; it may end later
 */
export function findForms(text: string, forms: FormIndex, from: number, to: number): Range[] {
  const found: Range[] = [];
  if (forms.size === 0) return found;
  const tryForms = (start: number, candidates: readonly Form[]) => {
    for (const form of candidates) {
      const { end, matched } = follow(text, start, form.text);
      if (matched >= form.required) found.push({ start, end });
    }
  };
  for (let start = from; start < Math.min(to, text.length); start += 1) {
    const unit = text.charCodeAt(start);
    if (isEscape(unit)) tryForms(start, formsAt(text, start, forms));
    else {
      const candidates = forms.get(unit);
      if (candidates) tryForms(start, candidates);
    }
  }
  return found;
}

const NO_FORMS: readonly Form[] = [];

function formsAt(text: string, start: number, forms: FormIndex): Form[] {
  const firsts = readingsAt(text, start).map((reading) => reading.text.charCodeAt(0));
  return [...new Set(firsts)].flatMap((first) => forms.get(first) ?? NO_FORMS);
}

interface State {
  readonly end: number;
  readonly matched: number;
}

/** Follows a form as far as the text holds it, in all readings: `&amp;` may be one character or five. */
function follow(text: string, start: number, form: string): State {
  // Most characters that begin a form do not begin its text.
  let best = followPlain(text, { end: start, matched: 0 }, form);
  const isDone = best.matched === form.length || !mayBeEncoded(text.charCodeAt(best.end));
  if (isDone) return best;
  const open: State[] = [best];
  const seen = new Set<number>();
  for (let state = open.pop(); state; state = open.pop()) {
    const { end, matched } = followPlain(text, state, form);
    if (matched > best.matched) best = { end, matched };
    if (matched === form.length) break;
    const key = (end - start) * form.length + matched;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const reading of readingsAt(text, end)) {
      const isSame = reading.text !== '' && form.startsWith(reading.text, matched);
      // Forms hold one space for several.
      const isMore = reading.text === ' ' && form[matched - 1] === ' ';
      if (isSame) open.push({ end: reading.end, matched: matched + reading.text.length });
      else if (isMore) open.push({ end: reading.end, matched });
    }
  }
  return best;
}

function mayBeEncoded(unit: number): boolean {
  return unit === SPACE || isEscape(unit);
}

function followPlain(text: string, state: State, form: string): State {
  let { end, matched } = state;
  while (matched < form.length && end < text.length) {
    const unit = text.charCodeAt(end);
    if (unit !== form.charCodeAt(matched) || mayBeEncoded(unit)) break;
    end += 1;
    matched += 1;
  }
  return { end, matched };
}

const SPACE = 32;
const ESCAPE_UNITS: ReadonlySet<number> = new Set(Buffer.from(ESCAPES));

function isEscape(unit: number): boolean {
  return ESCAPE_UNITS.has(unit);
}
