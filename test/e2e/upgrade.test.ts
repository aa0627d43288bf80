// The built program while an upgrade removes its code.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { COMMAND, scriptedService } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Copies the package; `remove` deletes its code as an upgrade does. */
function installCopy() {
  const folder = temporaryDirectory();
  for (const name of ['bin', 'dist', 'package.json']) {
    cpSync(path.join(ROOT, name), path.join(folder, name), { recursive: true });
  }
  return {
    launcher: path.join(folder, 'bin/imgctl.js'),
    remove: () => rmSync(path.join(folder, 'dist'), { recursive: true, force: true }),
  };
}

/** Starts a copy of the program, whose code is removed at the first request of this method. */
async function startUpgraded(method: string, ...argv: string[]) {
  const { launcher, remove } = installCopy();
  const { env } = await scriptedService((request) => {
    if (request.method === method) remove();
    if (request.method === 'PATCH') return { json: { request: { id: 1, status: 'WAITING' } } };
    if (request.url.pathname === '/v2/image') {
      return { json: cataloguePage(request.url, testImages(2)) };
    }
    return request.url.pathname.startsWith('/v2/request/')
      ? { json: { data: { id: 1, status: 'PROCESSED' } } }
      : { json: { data: [], meta: {} } };
  });
  const child = spawn(process.execPath, [launcher, ...argv], { env });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text) => {
      output[name] += text;
    });
  }
  const ended = once(child, 'close').then(([exitCode]) => ({ exitCode, ...output }));
  return { child, ended, remove };
}

// An executable is one file.
describe.skipIf(COMMAND.length === 1)('an upgrade', () => {
  it.each([
    ['PATCH', 'sync -o yaml'],
    ['PATCH', 'sync --wait --poll-interval 10ms'],
    ['PATCH', 'sync --wait --poll-interval 10ms -o yaml'],
    ['GET', 'sync-status 1 --wait -o csv'],
  ])('at a %s does not disturb %s', async (method, command) => {
    const { ended } = await startUpgraded(method, ...command.split(' '));
    const { exitCode, stdout } = await ended;
    const status = command === 'sync -o yaml' ? 'WAITING' : 'PROCESSED';
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining(status) });
  });

  it('ends images list with one line that says so', async () => {
    const { ended } = await startUpgraded('GET', 'images', 'list');
    expect(await ended).toEqual({
      exitCode: 1,
      stdout: '',
      stderr:
        'imgctl: imgctl was upgraded or removed while this command ran\n' +
        'hint: check what it has done, then run it again; if that fails, install imgctl again\n',
    });
  });
});
