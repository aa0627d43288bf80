// Completion scripts are templates, the same for any command tree, with tables that are made from it.

import fs from 'node:fs';
import path from 'node:path';
import type { CompletionModel } from './model.ts';
import { settingKinds, type ValueKind } from './values.ts';

/** A case of a table: some texts, and the kind of value that it asks for. */
export interface KindCase {
  readonly texts: readonly string[];
  readonly kind: ValueKind;
}

/** `<command>:<option>` for each option with a value, `*` for any command, with the kind of value. */
export function valueCases({ commands, global }: CompletionModel): readonly KindCase[] {
  return [...commands, { paths: ['*'], options: global }].flatMap(({ paths, options }) =>
    options.flatMap(({ flags, value }) => {
      const texts = paths.flatMap((path) => flags.map((flag) => `${path}:${flag}`));
      return value === undefined ? [] : [{ texts, kind: value }];
    }),
  );
}

export function settingCases(): readonly KindCase[] {
  return [...settingKinds()].map(([key, kind]) => ({ texts: [key], kind }));
}

/** The template of that name beside this file, each `@slot@` filled. */
export function fillTemplate(name: string, slots: Readonly<Record<string, string>>): string {
  let text = fs.readFileSync(path.join(import.meta.dirname, name), 'utf8');
  for (const [slot, content] of Object.entries(slots)) {
    if (!text.includes(`@${slot}@`)) throw new Error(`${name} has no place for ${slot}`);
    text = text.replaceAll(`@${slot}@`, () => content);
  }
  return text;
}
