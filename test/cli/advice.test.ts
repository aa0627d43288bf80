// What people type who know other tools, or mistype: advice.txt has the lines, what is wrong with
// each, and the hint. After a change, or for a new line:
// npx vitest run --project unit test/cli/advice.test.ts -u

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { named } from '../support/catalogue-page.ts';
import { expectOutcomes, outcomeOf } from '../support/outcomes.ts';
import { localUser } from '../support/users.ts';

const NOW = Date.parse('2024-06-15T12:00:00Z');
const SNAPSHOT = {
  ...{ version: 1, taken_at: new Date(NOW).toISOString(), base_url: 'https://images.example' },
  images: [named(1, 'web-1.ova')],
};

it('imgctl says what mistyped lines probably mean', async () => {
  const { imgctl, directory } = localUser();
  writeFileSync(path.join(directory, 'web.json'), JSON.stringify(SNAPSHOT));
  await expectOutcomes(path.join(import.meta.dirname, 'advice.txt'), async (typed) => {
    const line = typed
      .replace(/^imgctl /, '')
      .replace(/^images list/, 'images list --from web.json');
    const { stderr, ...result } = await imgctl(line, { errorColumns: 1_000, time: NOW });
    // The word after an option may be a secret.
    expect(stderr).not.toContain('hunter2');
    return outcomeOf({ ...result, stderr: stderr.replace(/.* web\.json is .* old\n/, '') });
  });
});
