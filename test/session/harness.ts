// A session with the embedded service, over real sockets.

import { onTestFinished } from 'vitest';
import type { Emulator } from '../../src/emulator/service.ts';
import type { EmulatorOptions, RequestRecord } from '../../src/emulator/service-options.ts';
import type { Io } from '../../src/io.ts';
import { openSession, type Session } from '../../src/session/session.ts';
import { Settings } from '../../src/session/settings.ts';
import { serve } from '../support/emulator.ts';
import { type FakeIoOptions, fakeIo, temporaryDirectory } from '../support/io.ts';

/** A service, a directory for its users, and sessions in it. */
interface ServiceUnderTest {
  readonly emulator: Emulator;
  /** `GET /v2` and so on, in the order of arrival. */
  readonly requests: readonly string[];
  tokenRequests(): number;
  open(env?: FakeIoOptions['env'], io?: Io, stored?: StoredSettings): Promise<SessionUnderTest>;
}

type StoredSettings = Readonly<Record<string, string>>;

export async function startService(
  options: Partial<EmulatorOptions> = {},
): Promise<ServiceUnderTest> {
  const requests: string[] = [];
  const directory = temporaryDirectory();
  const onRequest = ({ method, target }: RequestRecord) => {
    requests.push(`${method} ${target}`);
  };
  const emulator = await serve({ images: 1, ...options, onRequest });
  return {
    emulator,
    requests,
    tokenRequests: () => requests.filter((request) => request.startsWith('POST')).length,
    open: (...args) => sessionWith(emulator.baseUrl, directory, ...args),
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
  env: FakeIoOptions['env'] = { IMGCTL_PASSWORD: 'demo' },
  io: Io = fakeIo({ env }),
  stored: StoredSettings = { username: 'demo' },
): Promise<SessionUnderTest> {
  const warnings: string[] = [];
  const notes: string[] = [];
  const profile = { 'base-url': baseUrl, ...stored };
  const settings = new Settings('default', { retries: '0' }, io.env, profile);
  const session = await openSession({
    io,
    settings,
    configDirectory: directory,
    userAgent: 'test',
    warn: (message) => warnings.push(message),
    note: (message) => notes.push(message),
    onSecret: () => {},
  });
  onTestFinished(session.close);
  return { ...session, warnings, notes };
}
