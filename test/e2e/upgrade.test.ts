// The built program while an upgrade removes its code.

import { execFile } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { COMMAND, scriptedService } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

// An executable is one file.
describe.skipIf(COMMAND.length === 1)('an upgrade', () => {
  it('ends images list with one line that says so', async () => {
    const folder = temporaryDirectory();
    for (const name of ['bin', 'dist', 'package.json']) {
      cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
    }
    const { env, sent } = await scriptedService((request) => {
      rmSync(path.join(folder, 'dist'), { recursive: true });
      return { json: cataloguePage(request.url, testImages(2)) };
    });
    const launcher = path.join(folder, 'bin/imgctl.js');
    const ended = await new Promise((resolve) =>
      execFile(process.execPath, [launcher, 'images', 'list'], { env }, (error, ...output) =>
        resolve([error?.code, ...output]),
      ),
    );
    expect(ended).toEqual([
      1,
      '',
      'imgctl: imgctl was upgraded or removed while this command ran\n' +
        'hint: check what it has done, then run it again; if that fails, install imgctl again\n',
    ]);
    expect(sent()).toHaveLength(1);
  });
});
