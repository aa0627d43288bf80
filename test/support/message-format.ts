// Messages as a run would write them without colours, secrets and a terminal.

import type { MessageFormat } from '../../src/output/messages.ts';
import { UNSTYLED } from '../../src/output/style.ts';

export const PLAIN: MessageFormat = {
  json: false,
  redact: String,
  style: UNSTYLED,
  hintOf(facts) {
    if (typeof facts === 'string') return facts;
    return facts.kind === 'advice' ? facts.text : facts.kind;
  },
  width: undefined,
  unicode: true,
};
