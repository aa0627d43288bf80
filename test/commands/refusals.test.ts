// What commands refuse before they send anything: refusals.txt has the lines, with the message and
// hint of each. After a change, or for a new line:
// npx vitest run --project unit test/commands/refusals.test.ts -u

import { copyFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { expectOutcomes, outcomeOf } from '../support/outcomes.ts';
import { writeOva } from '../support/uploads.ts';
import { localUser } from '../support/users.ts';

const FILES = {
  'a.txt': '',
  'disk.vmdk': '',
  'disk.VHDX.GZ': '',
  'disk.vmdkx': '',
  'disk.gz': '',
  'locks-damaged.json': '{',
  'locks-newer.json': '{"version": 99}',
  'locks-twice.json': '{"version": 0, "version": 1}',
  'snapshot-newer.json': '{"version": 99, "images": []}',
};

it('commands refuse what they cannot do, and say what to do instead', async () => {
  const unused = { IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_TOKEN: 'T' };
  const { imgctl, directory } = localUser(undefined, unused);
  for (const [name, text] of Object.entries(FILES)) {
    writeFileSync(path.join(directory, name), text);
  }
  for (const name of ['.dot', 'a']) writeOva(directory, name);
  copyFileSync(path.join(directory, 'a.ova'), path.join(directory, 'a\\b.ova'));
  await expectOutcomes(path.join(import.meta.dirname, 'refusals.txt'), async (line) => {
    const result = await imgctl(line.replace(/^imgctl /, ''));
    expect(result).toMatchObject({ stdout: '', exitCode: expect.toBeOneOf([1, 2, 5]) });
    return outcomeOf({ ...result, stderr: result.stderr.replaceAll(directory, 'FOLDER') });
  });
});
