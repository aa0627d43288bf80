// The built program prints what docs/schemas promises, against the embedded service.

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { writeSampleOva } from '../../src/ovf/sample.ts';
import { account, runBuilt, startEmulatorProcess } from '../support/cli.ts';
import { temporaryDirectory } from '../support/io.ts';
import { violations } from '../support/schemas.ts';

const SCHEMAS = readdirSync(path.resolve(import.meta.dirname, '../../docs/schemas'));

/** The schema, a command line and its exit code; ID is an image, WORK a folder with packages. */
const OUTPUTS: readonly (readonly [schema: string, line: string, exitCode?: number])[] = [
  ['images-list', 'images list'],
  ['images-list', 'images list nothing-has-this-name'],
  ['images-get', 'images get ID'],
  ['images-get', 'images get ID ID'],
  ['images-latest', 'images latest ubuntu server'],
  ['images-latest', 'images latest --each'],
  ['images-latest', 'images latest ubuntu --explain'],
  ['images-changes', 'images changes'],
  ['images-lock-add', 'images lock add web ubuntu server --file WORK/lock.json'],
  ['images-lock-list', 'images lock list --file WORK/lock.json'],
  ['images-lock-check', 'images lock check --file WORK/lock.json'],
  ['images-lock-update', 'images lock update --file WORK/lock.json'],
  ['images-snapshot', 'images snapshot'],
  ['my-images', 'my-images'],
  ['push', 'push WORK/good.ova --dry-run'],
  ['push', 'push WORK/good.ova --no-sync'],
  ['push', 'push WORK/good.ova'],
  ['push', 'push WORK/good.ova --force --no-wait'],
  ['sync', 'sync'],
  ['sync', 'sync --wait'],
  ['sync', 'sync --dry-run'],
  ['sync-status', 'sync-status'],
  ['sync-status', 'sync-status --wait'],
  ['sync-status', 'sync-status --list'],
  ['inspect', 'inspect WORK/good.ova'],
  ['inspect', 'inspect WORK/good.ova WORK/good.ova'],
  ['validate', 'validate WORK/good.ova'],
  ['validate', 'validate WORK/bad.ova', 1],
  ['whoami', 'whoami'],
  ['doctor', 'doctor'],
  ['token', 'token'],
  ['config-list', 'config list'],
  ['config-get', 'config get timeout'],
  ['config-path', 'config path'],
  ['profile-list', 'profile list'],
  ['commands', 'commands'],
];

describe('the JSON output', () => {
  it('of every command matches its schema', async () => {
    const work = temporaryDirectory();
    await writeSampleOva(path.join(work, 'good.ova'), 'good');
    writeFileSync(path.join(work, 'bad.ova'), 'no archive');
    const uploads = temporaryDirectory();
    mkdirSync(path.join(uploads, 'demo'));
    await writeSampleOva(path.join(uploads, 'demo/sample.ova'), 'sample');
    const emulator = await startEmulatorProcess('--sync-delay', '1ms', '--uploads', uploads);
    onTestFinished(async () => {
      await emulator.stop();
    });
    const env = account(emulator.baseUrl);
    const config = ['config', 'set', 'password-command', 'echo demo'];
    expect(await runBuilt(config, { env })).toMatchObject({ exitCode: 0 });
    const storage = ['config', 'set', 'upload-url', `${pathToFileURL(path.join(uploads, 'demo'))}`];
    expect(await runBuilt(storage, { env })).toMatchObject({ exitCode: 0 });
    const { stdout: id } = await runBuilt(['images', 'list', '-q', '--limit', '1'], { env });
    for (const [schema, line, exitCode = 0] of OUTPUTS) {
      const argv = line.replaceAll('WORK', work).replaceAll('ID', id.trim()).split(' ');
      const result = await runBuilt([...argv, '--json'], { env });
      expect({ line, exitCode: result.exitCode, stderr: result.stderr }).toMatchObject({
        line,
        exitCode,
      });
      expect({ line, found: violations(schema, JSON.parse(result.stdout)) }).toEqual({
        line,
        found: [],
      });
      // Progress is text.
      const notices = result.stderr.split('\n').filter((text) => text.startsWith('{'));
      const found = notices.flatMap((notice) => violations('messages', JSON.parse(notice)));
      expect({ line, found }).toEqual({ line, found: [] });
    }
  });

  it('is checked for every schema, and a wrong one is found', () => {
    const checked = OUTPUTS.map(([schema]) => `${schema}.json`);
    expect(new Set([...checked, 'messages.json'])).toEqual(new Set(SCHEMAS));
    expect(violations('images-list', [{ id: '1' }])).not.toEqual([]);
    expect(violations('messages', { error: { code: 'no-such-code' } })).not.toEqual([]);
  });
});
