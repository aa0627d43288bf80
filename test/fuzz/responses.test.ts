// Runs commands against thousands of hostile responses, and finds the smallest changes that cause a fault.

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FORMAT_NAMES } from '../../src/output/formats.ts';
import { basic, serve } from '../support/emulator.ts';
import { fakeIo } from '../support/io.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import {
  applyChange,
  change,
  deliver,
  FOREIGN,
  OWN,
  type Response,
  soundResponse,
} from './hostile-response.ts';
import { CANARIES, parametersFor, runSoundly } from './verdict.ts';

/** The start of the clock in every run. */
const NOW = Date.UTC(2026, 0, 5, 12);
const MAX_SLEEP = 60_000;
/** More than any command sends here, with all retries. */
const MAX_REQUESTS = 1_000;

const LISTING = [
  ...['', '--limit 7', '-s name,desc', '-s updated_on,desc -s id', '-f name,like,%a%'],
  ...['-f updated_on,ge,-3650d -f public,eq,true', '--columns all --time age', '--no-header'],
  ...['--time iso', 'ubuntu --fail-empty', '--urls', '--urls --limit 5 -s name', '-q'],
];
const SYNCS = ['', '--wait --wait-timeout 3m', '--wait --poll-interval 20s --wait-timeout 5m'];
const REQUESTS = [
  ...['/v2/image -f per_page=10 --paginate', '/v2/image -f per_page=5 -f expand=1 --paginate -i'],
  ...['/v2', '/v2/image/3 -i', '/v2/user/image/vm -X PATCH', '/v2/image -X HEAD -i'],
];
const run = fc.record({
  command: fc.oneof(
    fc.constantFrom('login', 'whoami --check', 'sync --dry-run', 'images get 7', 'images get 3 no'),
    fc.constantFrom(...LISTING, '--page 2').map((flags) => `images list --per-page 3 ${flags}`),
    fc.constantFrom(...LISTING, '--page 1').map((flags) => `images list --per-page 100 ${flags}`),
    fc.constantFrom(...LISTING.slice(0, 10)).map((flags) => `my-images ${flags}`),
    fc.constantFrom(...SYNCS).map((flags) => `sync ${flags}`),
    fc.constantFrom(...SYNCS).map((flags) => `sync-status 1 ${flags}`),
    fc.constantFrom(...REQUESTS).map((request) => `api ${request}`),
  ),
  format: fc.constantFrom(...FORMAT_NAMES),
  retries: fc.nat(2),
  debug: fc.integer({ min: 0, max: 9 }).map((number) => number === 9),
  columns: fc.option(fc.constantFrom(20, 80, 200), { nil: undefined }),
  withPassword: fc.boolean(),
  hasFolder: fc.boolean(),
  /** The changes of each response in turn, again and again; one of OTHERS may replace it first. */
  responses: fc.array(
    fc.record({ other: fc.nat(99), changes: fc.array(change, { maxLength: 3 }) }),
    { minLength: 1, maxLength: 6 },
  ),
});

it('commands end as specified, whatever the service sends', async () => {
  const original = await startOriginals();
  let respond = original;
  const server = await scriptedServer(async ({ method, target }) => {
    const response = await respond(method, target);
    return { raw: (socket) => deliver(response, method, socket) };
  });
  const foreign = await scriptedServer({});
  const located = (text: string) =>
    text.replaceAll(OWN, server.baseUrl).replaceAll(FOREIGN, foreign.baseUrl);
  const exitCodes = new Set<number>();

  const property = fc.asyncProperty(run, async ({ responses, columns, ...chosen }) => {
    const { username, password, token } = CANARIES;
    const words = `${chosen.command}${chosen.debug ? ' --debug' : ''}`.split(' ').filter(Boolean);
    // Ages are for tables.
    const format = words.includes('age') ? 'table' : chosen.format;
    const argv = [...words, '-o', format, '--retries', `${chosen.retries}`, '--timeout', '10s'];
    const folder = mkdtempSync(path.join(tmpdir(), 'imgctl-fuzz-'));
    const env = {
      IMGCTL_BASE_URL: server.baseUrl,
      ...(chosen.withPassword || words[0] === 'login'
        ? { IMGCTL_USERNAME: username, IMGCTL_PASSWORD: password }
        : { IMGCTL_TOKEN: token }),
      ...(chosen.hasFolder ? { IMGCTL_CONFIG_DIR: folder } : {}),
    };
    const io = fakeIo({ time: NOW, env, ...(columns === undefined ? {} : { columns }) });
    let requests = 0;
    respond = async (method, target) => {
      const { other, changes = [] } = responses[requests % responses.length] ?? {};
      requests += 1;
      if (requests > MAX_REQUESTS) io.interrupt();
      const response = await original(method, target, other);
      for (const each of changes) applyChange(response, each);
      response.headers = response.headers.map(([name, value]) => [name, located(value)]);
      const isPacked = response.headers.some(([name]) => name === 'content-encoding');
      if (!isPacked) response.body = Buffer.from(located(`${response.body}`));
      return response;
    };
    const { exitCode } = await runSoundly({ argv, format, columns }, io);
    exitCodes.add(exitCode);
    const left = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    expect(left.filter((file) => file.endsWith('.lock'))).toEqual([]);
    expect(foreign.requests).toEqual([]);
    expect(Math.max(0, ...io.sleeps)).toBeLessThanOrEqual(MAX_SLEEP);
  });
  await fc.assert(property, parametersFor(500));
  // With fewer exit codes the changes would be too weak.
  expect([...exitCodes].sort()).toEqual([0, 1, 3, 4, 5, 6, 7]);
});

/** Requests whose responses may replace any other. */
const OTHERS = [
  ...['POST /auth/request-token', 'GET /v2/image?per_page=1000', 'GET /v2/image/999', 'DELETE /v2'],
  ...['GET /v2/image?per_page=3&page=2&expand=1&filter=name,like,%25a%25', 'GET /v2/user/image/vm'],
  ...['PATCH /v2/user/image/vm', 'GET /v2/request/image_sync/1', 'GET /v2/image?per_page=3'],
];

/** Returns a function that gets the emulator's response to a request with a valid token. */
async function startOriginals() {
  const { username, password } = CANARIES;
  const users = [{ name: username, password }];
  const emulator = await serve({ users, images: 23, now: () => NOW, tokenLimit: 2 });
  const issued = await emulator.requestToken(username, password);
  const { token } = issued.body;
  const settled = (text: string) =>
    text.replaceAll(emulator.baseUrl, OWN).replaceAll(token, CANARIES.token);
  const replaced = ['content-length', 'connection', 'keep-alive', 'transfer-encoding', 'date'];
  return async (method: string, target: string, other = 99): Promise<Response> => {
    const request = OTHERS[other] ?? `${method} ${target}`;
    const [verb = '', address = ''] = request.split(' ');
    const isIssued = address.startsWith('/auth/') && OTHERS[other] === undefined;
    const authorization = verb === 'POST' ? basic(username, password) : bearer(token);
    const sent = isIssued ? issued : await emulator.send(verb, address, authorization);
    const { status, headers, body } = sent;
    const kept = [...headers]
      .filter(([name]) => !replaced.includes(name))
      .map(([name, value]) => [name, settled(value)] as const);
    const all = [['date', new Date(NOW).toUTCString()] as const, ...kept];
    const text = settled(body === undefined ? '' : JSON.stringify(body));
    return soundResponse(status, all, Buffer.from(text));
  };
}

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
