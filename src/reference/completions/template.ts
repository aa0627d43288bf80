// Completion scripts are templates, the same for any command tree, with tables that are made from it.

import fs from 'node:fs';
import path from 'node:path';
import type { CommandModel } from './model.ts';
import { settingKinds, type ValueKind } from './values.ts';

/** A case of a table: any of these texts, and what holds for them. */
export interface Case<Result> {
  readonly texts: readonly string[];
  readonly result: Result;
}

/** `<command>:<option>` for each option with a value, `*` for any command, with the kind of value. */
export function valueCases(models: readonly CommandModel[]): readonly Case<ValueKind>[] {
  return models.flatMap(({ paths, options }) =>
    options.flatMap(({ flags, value }) => {
      const owners = paths[0] === '' ? ['*'] : paths;
      const texts = owners.flatMap((owner) => flags.map((flag) => `${owner}:${flag}`));
      return value === undefined ? [] : [{ texts, result: value }];
    }),
  );
}

export function settingCases(): readonly Case<ValueKind>[] {
  return [...settingKinds()].map(([key, kind]) => ({ texts: [key], result: kind }));
}

/** The template of that name beside this file, each `@slot@` filled; one that stands alone by whole lines. */
export function fillTemplate(name: string, slots: Readonly<Record<string, string>>): string {
  let text = fs.readFileSync(path.join(import.meta.dirname, name), 'utf8');
  for (const [slot, content] of Object.entries(slots)) {
    if (!text.includes(`@${slot}@`)) throw new Error(`${name} has no place for ${slot}`);
    text = text.replaceAll(`@${slot}@`, () => content);
  }
  return text;
}
