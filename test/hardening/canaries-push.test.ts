// The secrets of the service and of the storage: each reaches its own server only, and no output, process or file.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshHome } from '../support/cli.ts';
import { SECRETS, type SeenRequest, storageUser, writeOva } from '../support/uploads.ts';
import {
  formsOfToken,
  placesOf,
  recordingCommand,
  tokensBelow,
  watchedRun,
  withTemporaryFolder,
} from './canaries.ts';

const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
const formsOf = (secret: string) => [secret, base64(`demo:${secret}`)];

const PATHS = { dav: '/upload/*', s3: '/s3/*' };
const COMMANDS = {
  dav: 'upload-password-command',
  s3: 'upload-secret-command',
};

const CASES: readonly (readonly [title: string, fault: string, exitCode: number])[] = [
  ['succeeds', '', 0],
  ['is redirected', 'PUT PATH=307', 1],
  ['is refused', 'PUT PATH=401', 4],
  ['loses its connection', 'PUT PATH=drop:1000', 3],
];

describe.each(['dav', 's3'] as const)('push --debug to %s', (kind) => {
  it.each(CASES)('shows no secret if it %s', async (_title, fault, exitCode) => {
    const faults = fault === '' ? [] : [fault.replace('PATH', PATHS[kind])];
    const user = await storageUser(kind, faults);
    const recorders = {
      service: recordingCommand(SECRETS.service),
      storage: recordingCommand(SECRETS.storage),
    };
    const home = withTemporaryFolder(freshHome());
    const IMGCTL_CONFIG_DIR = path.join(home.HOME, 'settings');
    mkdirSync(IMGCTL_CONFIG_DIR);
    const settings = {
      ...user.settings,
      'password-command': recorders.service.command,
      [COMMANDS[kind]]: recorders.storage.command,
    };
    const config = JSON.stringify({ profiles: { default: settings } });
    writeFileSync(path.join(IMGCTL_CONFIG_DIR, 'config.json'), config, { mode: 0o600 });
    const { IMGCTL_BASE_URL, IMGCTL_USERNAME } = user.env;
    const env = { ...home, IMGCTL_CONFIG_DIR, IMGCTL_BASE_URL, IMGCTL_USERNAME };
    const file = writeOva(user.work, 'web', 2_000_000);
    const argv = ['push', file, '--debug', '--retries', '0', '--poll-interval', '5ms'];
    const run = await watchedRun(argv, { env });
    expect(run).toMatchObject({ exitCode });

    const tokens = tokensBelow(home.HOME).flatMap(formsOfToken);
    expect(tokens.length).toBeGreaterThan(0);
    const own = {
      service: [...formsOf(SECRETS.service), ...tokens],
      storage: formsOf(SECRETS.storage),
    };
    const all = [...own.service, ...own.storage];
    expect(placesOf(all, run, [home.HOME, user.work], { stdout: true })).toEqual([]);
    for (const { seen } of Object.values(recorders)) {
      expect(seen()).toContain('imgctl');
      for (const text of all) expect(seen()).not.toContain(text);
    }
    const sent = (requests: readonly SeenRequest[]) => JSON.stringify(requests);
    for (const text of own.service) expect(sent(user.seen.storage)).not.toContain(text);
    for (const text of own.storage) expect(sent(user.seen.service)).not.toContain(text);
    // S3 signs with its secret, which never leaves this machine.
    expect(sent(user.seen.service)).toContain(base64(`demo:${SECRETS.service}`));
    expect(sent(user.seen.storage).includes(base64(`demo:${SECRETS.storage}`))).toBe(
      kind === 'dav',
    );
  });
});
