// Real answers: what the embedded service says to a request, the same for every run of the same seed.

import { startEmulator } from '../../src/emulator/server.ts';
import type { Header } from './answer.ts';

/** What must never show up in any output. */
export const CANARIES = {
  username: 'demo',
  password: 'canary-of-a-password',
  token: 'canary-of-a-token-0123456789-ABCDEFGHIJKLMN',
};

/** Where the clock of every run stands at first. */
export const START = Date.UTC(2026, 0, 5, 12);

export interface Original {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

export interface Originals {
  /** The answer to a request, as if it had been sent to `origin` with a good token. */
  answer(method: string, target: string, origin: string): Promise<Original>;
  /** Refusals and others that may come in place of any answer. */
  others(origin: string): readonly Original[];
  close(): Promise<void>;
}

/** Headers of the connection, which the hostile service sets itself. */
const CONNECTION = ['content-length', 'connection', 'keep-alive', 'transfer-encoding', 'date'];

export async function recordOriginals(): Promise<Originals> {
  const { username, password } = CANARIES;
  const users = [{ name: username, password }];
  const emulator = await startEmulator({ users, images: 23, now: () => START, tokenLimit: 2 });
  const basic = (secret: string) =>
    `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`;
  const known = new Map<string, Promise<Original>>();
  let token = '';

  const ask = async (method: string, target: string, authorization: string) => {
    const url = `${emulator.baseUrl}${target}`;
    const answer = await fetch(url, { method, headers: { authorization }, redirect: 'manual' });
    const text = await answer.text();
    token ||= (JSON.parse(text) as { token?: string }).token ?? '';
    return { status: answer.status, headers: [...answer.headers], body: settled(text) };
  };

  /** Without what differs from run to run. */
  const settled = (text: string): Buffer =>
    Buffer.from(
      text
        .replaceAll(token, CANARIES.token)
        .replace(/"time":"[\d.]+s"/, '"time":"0.001234s"')
        .replace(/"task_id":"[^"]+"/, '"task_id":"0000-1111"'),
    );

  const issued = await ask('POST', '/auth/request-token', basic(password));
  const bearer = `Bearer ${token}`;
  const others = [
    await ask('POST', '/auth/request-token', basic('wrong')),
    await ask('POST', '/auth/request-token', basic(password)),
    await ask('GET', '/v2', 'Bearer unknown'),
    await ask('GET', '/v2/image?per_page=1000', bearer),
    await ask('GET', '/v2/image/999', bearer),
    await ask('GET', '/v2/image?per_page=3&page=2&expand=1&filter=name,like,%25a%25', bearer),
    await ask('GET', '/v2/image?per_page=3', bearer),
    await ask('GET', '/v2/user/image/vm', bearer),
    await ask('PATCH', '/v2/user/image/vm', bearer),
    await ask('GET', '/v2/request/image_sync/1', bearer),
    await ask('DELETE', '/v2', bearer),
  ];

  const original = ({ status, headers, body }: Original, origin: string): Original => ({
    status,
    headers: [
      ['date', new Date(START).toUTCString()],
      ...headers
        .filter(([name]) => !CONNECTION.includes(name))
        .map(([name, value]) => [name, value.replaceAll(emulator.baseUrl, origin)] as const),
    ],
    body: Buffer.from(body.toString('utf8').replaceAll(emulator.baseUrl, origin)),
  });

  return {
    async answer(method, target, origin) {
      if (target.startsWith('/auth/')) return original(issued, origin);
      const key = `${method} ${target}`;
      const answer = known.get(key) ?? ask(method, target, bearer);
      known.set(key, answer);
      return original(await answer, origin);
    },
    others: (origin) => others.map((other) => original(other, origin)),
    close: emulator.close,
  };
}
