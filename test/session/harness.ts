// A session with the embedded service, over real sockets.

import { onTestFinished } from 'vitest';
import type { EmulatorOptions, RequestRecord } from '../../src/emulator/options.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import type { Io } from '../../src/io.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import { Settings } from '../../src/session/settings.ts';
import { serve } from '../support/emulator.ts';
import { type FakeIoOptions, fakeIo } from '../support/io.ts';

export interface ServiceUnderTest {
  readonly emulator: Emulator;
  /** `GET /v2` and so on, in the order in which they came. */
  readonly requests: readonly string[];
  /** How many of them were for a token. */
  tokenRequests(): number;
}

export async function startService(options: EmulatorOptions = {}): Promise<ServiceUnderTest> {
  const requests: string[] = [];
  const onRequest = ({ method, target }: RequestRecord) => {
    requests.push(`${method} ${target}`);
  };
  const emulator = await serve({ images: 1, ...options, onRequest });
  const tokenRequests = () => requests.filter((request) => request.startsWith('POST')).length;
  return { emulator, requests, tokenRequests };
}

export interface SessionUnderTest extends Session {
  readonly warnings: readonly string[];
}

/** A session of user demo, or of the one in `stored`, who has a password unless `env` says otherwise. */
export async function sessionWith(
  baseUrl: string,
  directory: string | undefined,
  env: FakeIoOptions['env'] = { IMGCTL_PASSWORD: 'demo' },
  io: Io = fakeIo({ env }),
  stored: Readonly<Record<string, string>> = { username: 'demo' },
): Promise<SessionUnderTest> {
  const warnings: string[] = [];
  const flags = { 'base-url': baseUrl, retries: '0' };
  const settings = new Settings('default', flags, io.env, stored);
  const session = await openSession({
    io,
    settings,
    configDirectory: directory,
    userAgent: 'test',
    warn: (message) => warnings.push(message),
    onSecret: () => {},
  });
  onTestFinished(session.close);
  return { ...session, warnings };
}
