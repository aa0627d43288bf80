// The text of a page that a server, or a proxy in front of it, sends instead of data.

import { shorten } from '../words.ts';

const MAX_PAGE = 16_384;

/** Returns the text in the body of a page, or else its title. Other text is returned as it is. */
export function pageText(body: Buffer): string {
  const page = shorten(body.subarray(0, 4 * MAX_PAGE).toString(), MAX_PAGE);
  // Only a page has tags: what looks like one elsewhere may be within a secret, which could not be
  // masked without it.
  if (!page.trimStart().startsWith('<')) return page;
  const text = page.replace(/<(head|title|script|style)\b.*?(<\/\1>|$)|<[^<>]*>/gis, ' ');
  if (text.trim() !== '') return text;
  const [, title = ''] = /<title[^>]*>(.*?)<\/title>/is.exec(page) ?? [];
  return title;
}
