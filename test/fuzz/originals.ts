// Responses of the emulator, the same in every run.

import { serve } from '../support/emulator.ts';
import type { Header } from './response.ts';

/** Secrets that no output may show. */
export const CANARIES = {
  username: 'demo',
  password: 'canary-of-a-password',
  token: 'canary-of-a-token-0123456789-ABCDEFGHIJKLMN',
};

/** The start of the clock in every trial. */
export const START = Date.UTC(2026, 0, 5, 12);

export interface Original {
  readonly status: number;
  readonly headers: readonly Header[];
  readonly body: Buffer;
}

export interface Originals {
  /** Returns the response to a request with a valid token, as if `origin` had sent it. */
  respond(method: string, target: string, origin: string): Promise<Original>;
  /** Returns responses that may replace any other, such as errors. */
  others(origin: string): readonly Original[];
}

/** Headers that the hostile service sets itself. */
const CONNECTION = ['content-length', 'connection', 'keep-alive', 'transfer-encoding', 'date'];

export async function recordOriginals(): Promise<Originals> {
  const { username, password } = CANARIES;
  const users = [{ name: username, password }];
  const emulator = await serve({ users, images: 23, now: () => START, tokenLimit: 2 });
  const basic = (secret: string) =>
    `Basic ${Buffer.from(`${username}:${secret}`).toString('base64')}`;
  const known = new Map<string, Promise<Original>>();
  let token = '';

  const send = async (method: string, target: string, authorization: string) => {
    const url = `${emulator.baseUrl}${target}`;
    const response = await fetch(url, { method, headers: { authorization }, redirect: 'manual' });
    const text = await response.text();
    token ||= (JSON.parse(text) as { token?: string }).token ?? '';
    return { status: response.status, headers: [...response.headers], body: settled(text) };
  };

  /** Replaces what differs between runs. */
  const settled = (text: string): Buffer =>
    Buffer.from(
      text
        .replaceAll(token, CANARIES.token)
        .replace(/"time":"[\d.]+s"/, '"time":"0.001234s"')
        .replace(/"task_id":"[^"]+"/, '"task_id":"0000-1111"'),
    );

  const issued = await send('POST', '/auth/request-token', basic(password));
  const bearer = `Bearer ${token}`;
  const others = [
    await send('POST', '/auth/request-token', basic('wrong')),
    await send('POST', '/auth/request-token', basic(password)),
    await send('GET', '/v2', 'Bearer unknown'),
    await send('GET', '/v2/image?per_page=1000', bearer),
    await send('GET', '/v2/image/999', bearer),
    await send('GET', '/v2/image?per_page=3&page=2&expand=1&filter=name,like,%25a%25', bearer),
    await send('GET', '/v2/image?per_page=3', bearer),
    await send('GET', '/v2/user/image/vm', bearer),
    await send('PATCH', '/v2/user/image/vm', bearer),
    await send('GET', '/v2/request/image_sync/1', bearer),
    await send('DELETE', '/v2', bearer),
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
    async respond(method, target, origin) {
      if (target.startsWith('/auth/')) return original(issued, origin);
      const key = `${method} ${target}`;
      const response = known.get(key) ?? send(method, target, bearer);
      known.set(key, response);
      return original(await response, origin);
    },
    others: (origin) => others.map((other) => original(other, origin)),
  };
}
