// The workflows of .github run fixed versions of actions, which cannot push with the token of the checkout.

import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const FOLDER = resolve(import.meta.dirname, '../../.github/workflows');

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  const text = readFileSync(resolve(FOLDER, name), 'utf8');

  it('pins each action to a commit and names its version', () => {
    for (const line of text.match(/\buses:.*/g) ?? [])
      expect(line).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('stores no credentials in a checkout', () => {
    const { jobs }: { jobs: Record<string, { steps: Step[] }> } = parse(text);
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts).not.toEqual([]);
    for (const { with: options } of checkouts)
      expect(options).toMatchObject({ 'persist-credentials': false });
  });
});
