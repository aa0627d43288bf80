// What commands refuse before they send anything: refusals.txt has the lines, with the message and
// hint of each. After a change, or for a new line `$ imgctl …`:
// npx vitest run --project unit test/commands/refusals.test.ts -u

import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { writeOva } from '../support/uploads.ts';
import { localUser } from '../support/users.ts';

const FILE = path.join(import.meta.dirname, 'refusals.txt');

const FILES = {
  'a.txt': '',
  'disk.vmdk': '',
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
  const parts: string[] = [];
  for (const [, line = ''] of readFileSync(FILE, 'utf8').matchAll(/^\$ imgctl (.*)$/gm)) {
    const { stdout, stderr, exitCode } = await imgctl(line);
    expect({ line, stdout, failed: exitCode > 0 }).toEqual({ line, stdout: '', failed: true });
    parts.push(`$ imgctl ${line}\n${stderr.replaceAll(directory, 'FOLDER')}`);
  }
  await expect(parts.join('\n')).toMatchFileSnapshot(FILE);
});
