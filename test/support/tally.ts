// A reporter that says which tests were skipped and why, and whose last line counts the tests, for scripts that read logs.
// IMGCTL_REQUIRE=all makes a skip fail. IMGCTL_SKIPS is a file to which each skipped test is added: reason, tab, name.

import { appendFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { reasonOf } from './requirements.ts';

const { IMGCTL_REQUIRE, IMGCTL_SKIPS } = process.env;

export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    const reasons = new Map<string, number>();
    for (const module of modules) {
      if (module.errors().length > 0) count.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        count[state] += 1;
        if (state !== 'skipped') continue;
        const reason = reasonOf(test.fullName);
        reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
        if (IMGCTL_SKIPS) appendFileSync(IMGCTL_SKIPS, `${reason}\t${test.fullName}\n`);
        if (IMGCTL_REQUIRE === 'all' && !reason.startsWith('only ')) process.exitCode = 1;
      }
    }
    const lines = [...reasons].map(([reason, tests]) => `skipped: ${tests}, ${reason}\n`);
    process.stdout.write(`
${lines.join('')}tests: ${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped
`);
  }
}
