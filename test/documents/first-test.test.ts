// "Your first test" in docs/development/testing.md is test/first.test.ts, which runs with the others.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, it } from 'vitest';

const read = (file: string) => readFileSync(resolve(import.meta.dirname, '../..', file), 'utf8');

it('docs/development/testing.md shows test/first.test.ts as it is', () => {
  const [, shown] = /^```ts\n(.*?)^```$/ms.exec(read('docs/development/testing.md')) ?? [];
  expect(read('test/first.test.ts')).toContain(shown);
});
