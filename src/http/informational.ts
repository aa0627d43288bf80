// Lets a connection skip `100 Continue`, which RFC 9110 (section 15.2) allows even if nobody asked for it.

import symbols from 'undici/lib/core/symbols.js';

interface Parser {
  onHeadersComplete(status: number, upgrade: boolean, keepAlive: boolean): number;
}

type Connected = Record<symbol, Record<symbol, Parser | undefined> | undefined>;

/** undici takes 100 for a broken response, but skips every other informational one, such as 102. */
export function ignoreContinue(client: object): void {
  const parser = (client as Connected)[symbols.kSocket]?.[symbols.kParser];
  if (!parser) return;
  const onHeadersComplete = parser.onHeadersComplete.bind(parser);
  parser.onHeadersComplete = (status, upgrade, keepAlive) =>
    onHeadersComplete(status === 100 ? 102 : status, upgrade, keepAlive);
}
