// The workflows of .github end in time, and run fixed versions of actions; only the steps that need the token have it.

import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const FOLDER = resolve(import.meta.dirname, '../../.github/workflows');

interface Step {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly run?: string;
}

/** Without steps it calls another workflow, which has limits of its own. */
interface Job {
  readonly steps?: readonly Step[];
  readonly 'timeout-minutes'?: number;
}

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  const text = readFileSync(resolve(FOLDER, name), 'utf8');
  const jobs: Job[] = Object.values(parse(text).jobs);
  const steps = jobs.flatMap((job) => job.steps ?? []);

  it('pins each action to a commit and names its version', () => {
    for (const line of text.match(/\buses: (?!\.\/).*/g) ?? [])
      expect(line).toMatch(/^uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it('limits the time of each job, and gives its token only to steps that run gh', () => {
    for (const { steps, 'timeout-minutes': limit } of jobs)
      expect(limit).toEqual(steps && expect.any(Number));
    const withToken = steps.filter((step) => JSON.stringify(step).includes('github.token'));
    expect(withToken).toEqual(steps.filter(({ run }) => run?.startsWith('gh ')));
    expect(text.split('github.token')).toHaveLength(withToken.length + 1);
  });

  it('stores no credentials in a checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts).not.toEqual([]);
    for (const { with: options } of checkouts)
      expect(options).toMatchObject({ 'persist-credentials': false });
  });
});
