// A session with the emulator, over real sockets.

import { onTestFinished } from 'vitest';
import { Settings } from '../../src/config/settings.ts';
import type { Io } from '../../src/io.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import { type ServeOptions, serve } from '../support/emulator.ts';
import { type FakeIoOptions, fakeIo, temporaryDirectory } from '../support/io.ts';
import { requestsTo } from '../support/scripted-server.ts';

type SessionOptions = [env?: FakeIoOptions['env'], io?: Io, stored?: Record<string, string>];

/** What a login as demo is given. */
export const DEMO = {
  passwordSource: { read: async () => 'demo', factsIfRefused: { kind: 'password-refused' } },
} as const;

/** A service, a directory for its users, and sessions in it. */
export async function startService(options: ServeOptions = {}) {
  const directory = temporaryDirectory();
  const emulator = await serve({ images: 1, ...options });
  return {
    emulator,
    requests: () => requestsTo(emulator),
    tokenRequests: () => emulator.requests.filter(({ method }) => method === 'POST').length,
    open: (...args: SessionOptions) => sessionWith(emulator.baseUrl, directory, ...args),
  };
}

export interface SessionUnderTest extends Session {
  readonly warnings: readonly string[];
  readonly notes: readonly string[];
}

/** A session of user demo, or of the one in `stored`, who has a password unless `env` says otherwise. */
export async function sessionWith(
  baseUrl: string,
  directory: string | undefined,
  ...[
    env = { IMGCTL_PASSWORD: 'demo' },
    io = fakeIo({ env }),
    stored = { username: 'demo' },
  ]: SessionOptions
): Promise<SessionUnderTest> {
  const warnings: string[] = [];
  const notes: string[] = [];
  const profiles = new Map([['default', { 'base-url': baseUrl, ...stored }]]);
  const session = await openSession({
    io,
    settings: new Settings({ profile: undefined, profiles }, 'default', io.env).with({
      retries: '0',
    }),
    configDirectory: directory,
    userAgent: 'test',
    warn: (message) => warnings.push(message),
    report: (message) => notes.push(message),
    onSecret: () => {},
    redact: String,
  });
  onTestFinished(session.close);
  return { ...session, warnings, notes };
}
