// What people type who know other tools, or mistype: advice.txt has the lines, what is wrong with
// each, and below them their hint. After a change, or for a new line:
// npx vitest run --project unit test/cli/advice.test.ts -u

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { named } from '../support/catalogue-page.ts';
import type { CliResult } from '../support/io.ts';
import { localUser } from '../support/users.ts';

const FILE = path.join(import.meta.dirname, 'advice.txt');

const NOW = Date.parse('2024-06-15T12:00:00Z');
const SNAPSHOT = {
  ...{ version: 1, taken_at: new Date(NOW).toISOString(), base_url: 'https://images.example' },
  images: [named(1, 'web-1.ova')],
};

/** Returns the message and the hint; of a success, the first line. */
function outcomeOf({ stdout, stderr }: CliResult): [what: string, hint: string] {
  if (stderr === '') return [`${stdout.split('\n')[0]}`, ''];
  if (stderr.startsWith('{')) {
    const { message, hint } = JSON.parse(stderr).error;
    return [message, hint];
  }
  const [, what = '', hint = ''] =
    /^imgctl: (.*?)\n(?:hint: (.*)\n)?$/s.exec(stderr.replace(/.* old\n/, '')) ?? [];
  return [what, hint];
}

it('imgctl says what mistyped lines probably mean', async () => {
  const { imgctl, directory } = localUser();
  writeFileSync(path.join(directory, 'web.json'), JSON.stringify(SNAPSHOT));
  let text = '';
  let last: string | undefined;
  for (const [, typed = ''] of readFileSync(FILE, 'utf8').matchAll(/^imgctl (.*?)(?: {2}.*)?$/gm)) {
    const line = typed
      .replace(/\\u([\da-f]{4})/g, (_, code) => String.fromCharCode(Number(`0x${code}`)))
      .replace(/^images list/, 'images list --from web.json');
    const [what, hint] = outcomeOf(await imgctl(line, { errorColumns: 1_000, time: NOW }));
    // The word after an option may be a secret.
    expect(what + hint).not.toContain('hunter2');
    if (last !== undefined && last !== hint) text += `${last && `  ${last}\n`}\n`;
    last = hint;
    text += `${`imgctl ${typed.padEnd(42)}  ${what}`.trimEnd()}\n`;
  }
  await expect(`${text}${last && `  ${last}\n`}`).toMatchFileSnapshot(FILE);
});
