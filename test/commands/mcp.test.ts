// mcp: the tools, in this process. test/e2e/mcp.test.ts uses the official client and the built program.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from '../output/hostile.ts';
import { cataloguePage, testImage, testImages } from '../support/catalogue-page.ts';
import { type FakeIoOptions, runCli, temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { errorResponse, type Handler } from '../support/scripted-server.ts';
import { type Environment, emulatorUser, PASSWORD, scriptedUser } from '../support/users.ts';

type Call = readonly [tool: string, given?: unknown];

interface Reply {
  readonly id: number | null;
  readonly error?: { readonly code: number; readonly message: string };
  readonly result?: {
    readonly content: { readonly text: string }[];
    readonly isError: boolean;
    readonly tools?: { readonly name: string; readonly annotations: object }[];
  };
}

const OPENING = [
  {
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
];

/** Sends lines after the opening, and returns the reply to each request. */
async function exchange(lines: readonly string[], io: FakeIoOptions, ...options: string[]) {
  const opening = OPENING.map((message) => JSON.stringify({ jsonrpc: '2.0', ...message }));
  const stdin = [...opening, ...lines, ''].join('\n');
  const { stdout, stderr, exitCode } = await runCli(['mcp', ...options], { ...io, stdin });
  const replies = stdout
    .trim()
    .split('\n')
    .map((line): Reply => JSON.parse(line));
  return { replies: replies.filter(({ id }) => id !== 0), stdout, stderr, exitCode };
}

/** Calls tools at the same time and returns their answers in order. */
async function call(calls: readonly Call[], env: Environment, ...options: string[]) {
  const lines = calls.map(([name, given], index) =>
    JSON.stringify({
      jsonrpc: '2.0',
      id: index + 1,
      method: 'tools/call',
      params: { name, arguments: given },
    }),
  );
  const { replies, stderr, exitCode } = await exchange(lines, { env }, ...options);
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
  const results = calls.map((_, index) => replies.find(({ id }) => id === index + 1)?.result);
  return results.map((result) => {
    const text = result?.content[0]?.text ?? 'null';
    expect(text).not.toMatch(RAW_HARM);
    return { isError: result?.isError, text, ...JSON.parse(text) };
  });
}

/** A catalogue that applies nothing itself. */
const catalogue =
  (images: Parameters<typeof cataloguePage>[1]): Handler =>
  ({ url }) => ({ json: cataloguePage(url, images) });

describe('mcp images_list', () => {
  it('answers 50 images, or up to the limit, with the total', async () => {
    const { env, requests } = await emulatorUser({ images: 120 });
    const limits = [undefined, 120, 7].map((limit): Call => ['images_list', { limit }]);
    const lists = await call(limits, { ...env, ...PASSWORD });
    expect(lists.map(({ total, rows }) => [total, rows.length])).toEqual([
      [120, 50],
      [120, 120],
      [120, 7],
    ]);
    expect(lists[0]?.messages).toEqual([
      { note: { message: '70 more', hint: expect.stringContaining('text or filter') } },
    ]);
    expect(lists[1]?.messages).toEqual([]);
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(1);
  });

  it('reads no more pages than it needs if the service counts the matches', async () => {
    const { env, requests } = await emulatorUser({ images: 500 });
    const [counted] = await call([['images_list', { limit: 10 }]], { ...env, ...PASSWORD });
    expect(counted).toMatchObject({ total: 500, isError: false });
    expect(requests.filter((request) => request.startsWith('GET'))).toHaveLength(1);
  });

  it('counts the matches itself if it filters or sorts locally', async () => {
    const { env } = await emulatorUser({ images: 250 });
    const filter = ['name,like,%ubuntu%', 'folder,ne,null'];
    const io = { env: { ...env, ...PASSWORD } };
    const { stdout } = await runCli(
      ['images', 'list', '-q', '-f', filter[0] ?? '', '-f', filter[1] ?? ''],
      io,
    );
    const total = stdout.trim().split('\n').length;
    expect(total).toBeGreaterThan(5);
    const calls: Call[] = [
      ['images_list', { filter, limit: 3 }],
      ['images_list', { text: ['UBUNTU', 'u'], sort: ['folder,asc', 'id,desc'], limit: 3 }],
    ];
    const [filtered, sorted] = await call(calls, io.env);
    expect(filtered).toMatchObject({ total });
    expect(filtered.rows).toHaveLength(3);
    expect(sorted.total).toBeGreaterThanOrEqual(total);
  });

  it('counts the matches itself if the service ignores the filter', async () => {
    const images = testImages(30);
    const { env } = await scriptedUser(({ url }) => {
      const { meta, ...page } = cataloguePage(url, images);
      const { filter: _, ...unfiltered } = meta;
      return { json: { ...page, meta: unfiltered } };
    });
    const [answer] = await call([['images_list', { filter: ['id,le,12'], limit: 5 }]], env);
    expect(answer).toMatchObject({ total: 12, rows: { length: 5 } });
    expect(answer.messages).toEqual([
      { warning: expect.anything() },
      { note: expect.objectContaining({ message: '7 more' }) },
    ]);
  });

  it('keeps an answer below 40,000 characters', async () => {
    const images = testImages(60).map((image) => ({ ...image, path: 'p'.repeat(1_000) }));
    const { env } = await scriptedUser(catalogue(images));
    const [first, narrow] = await call(
      [
        ['images_list', { limit: 60 }],
        ['images_list', { limit: 60, columns: ['id'] }],
      ],
      env,
    );
    expect(first.text.length).toBeLessThanOrEqual(40_000);
    expect(first.rows.length).toBeGreaterThan(20);
    expect(first.total).toBe(60);
    expect(first.messages[0].note.message).toBe(`${60 - first.rows.length} more`);
    expect(narrow.rows).toHaveLength(60);
  });

  it('passes values that begin with a dash, and never as options', async () => {
    const { env, requests } = await emulatorUser();
    const calls: Call[] = [
      ['images_list', { text: ['--help'] }],
      ['images_get', { images: ['--debug'] }],
      ['sync_status', { id: '--list' }],
      ['package_inspect', { file: '--version' }],
    ];
    const answers = await call(calls, { ...env, ...PASSWORD });
    expect(answers.map(({ isError }) => isError)).toEqual([false, true, true, true]);
    expect(answers[0]).toMatchObject({ total: 0, rows: [] });
    expect(requests).toContainEqual(expect.stringContaining('--help'));
  });
});

describe('mcp images_latest', () => {
  it('answers the newest image of a series, and lists the series if several match', async () => {
    const { env } = await emulatorUser({ images: 250 });
    const [one, several, each] = await call(
      [
        ['images_latest', { text: ['ubuntu-22.04-server'], filter: ['id,gt,0'] }],
        ['images_latest', { text: ['ubuntu'] }],
        ['images_latest', { text: ['ubuntu'], each: true, columns: ['name'] }],
      ],
      { ...env, ...PASSWORD },
    );
    expect(one).toMatchObject({ total: 1, messages: [] });
    expect(one.rows[0].name).toMatch(/^ubuntu-22\.04-server/);
    expect(several).toMatchObject({ isError: true, messages: [{ error: { exitCode: 2 } }] });
    expect(several.text).toContain(each.rows[0].name);
    expect(each.rows.length).toBeGreaterThan(1);
  });
});

describe('mcp', () => {
  it('shows images, syncs and packages', async () => {
    const { env } = await emulatorUser({ syncDelay: 0, uploads: temporaryDirectory() });
    const file = path.join(temporaryDirectory(), 'sample.ova');
    await writeSampleOva(file, 'sample');
    const user = { ...env, ...PASSWORD };
    const [list] = await call([['images_list', { limit: 2, columns: ['id'] }]], user);
    const [{ id }, { id: other }] = list.rows;
    const [submitted] = await call([['sync']], user, '--allow-sync');
    expect(submitted.rows).toEqual([expect.objectContaining({ id: 1 })]);
    expect(submitted.messages[0].note.message).toBe('sync request 1 submitted');
    const [one, two, own, status, known, inspected] = await call(
      [
        ['images_get', { images: [`${id}`] }],
        ['images_get', { images: [`${id}`, `${other}`], columns: ['id'] }],
        ['my_images'],
        ['sync_status', {}],
        ['sync_status', { list: true }],
        ['package_inspect', { file }],
      ],
      user,
    );
    expect(one.rows).toEqual([expect.objectContaining({ id, public: true })]);
    expect(two.rows).toEqual([{ id }, { id: other }]);
    expect(own).toMatchObject({ total: 0, rows: [] });
    expect(status.rows).toEqual([expect.objectContaining({ id: 1, state: expect.any(String) })]);
    expect(known.rows).toEqual([expect.objectContaining({ id: 1 })]);
    expect(inspected.rows).toEqual([expect.objectContaining({ kind: 'ova', file, findings: [] })]);
  });

  it('offers sync only with --allow-sync, and describes all tools in 6,000 characters', async () => {
    const { env, requests } = await emulatorUser();
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sync"}}',
    ];
    const { replies } = await exchange(lines, { env });
    expect(JSON.stringify(replies[0])).not.toContain('"sync"');
    expect(replies[1]?.error).toEqual({ code: -32_602, message: 'Tool sync not found' });
    expect(requests).toEqual([]);
    const { replies: allowed } = await exchange(lines.slice(0, 1), { env }, '--allow-sync');
    const tools = allowed[0]?.result?.tools ?? [];
    expect(JSON.stringify(tools).length).toBeLessThan(6_000);
    const changing = tools.filter(({ annotations }) => !('readOnlyHint' in annotations));
    expect(changing.map(({ name }) => name)).toEqual(['sync']);
  });

  it.each([
    ['an unknown argument', { txt: ['x'] }, 'Unrecognized key: "txt"'],
    ['an argument of another type', { text: 'x' }, 'text: Invalid input: expected array'],
    ['a limit out of range', { limit: 201 }, 'limit: Too big'],
    ['a broken filter', { filter: ['nam,eq,x'] }, 'did you mean name?'],
  ])('answers %s with an error, and sends nothing', async (_what, given, message) => {
    const { env, requests } = await emulatorUser();
    const line = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'images_list', arguments: given },
    };
    const { replies } = await exchange([JSON.stringify(line)], { env });
    expect(replies[0]?.result?.isError).toBe(true);
    expect(replies[0]?.result?.content[0]?.text).toContain(message);
    expect(requests).toEqual([]);
  });

  it('answers errors of the service with their code and hint', async () => {
    const { env } = await scriptedUser(() => errorResponse(403, 'Not for you.'));
    const [denied] = await call([['images_list']], env);
    expect(denied).toMatchObject({
      isError: true,
      messages: [{ error: { code: 'not-permitted', status: 403, exitCode: 4 } }],
    });
    const settings = { ...env, IMGCTL_BASE_URL: undefined };
    const [unset] = await call([['my_images']], settings);
    expect(unset.messages[0].error).toMatchObject({
      code: 'config',
      hint: expect.stringContaining('imgctl login'),
    });
  });

  it('escapes control characters in names, errors and arguments', async () => {
    const name = HOSTILE;
    const { env } = await scriptedUser(({ url }) =>
      url.pathname === '/v2/image'
        ? { json: cataloguePage(url, [{ ...testImage(1), name }]) }
        : errorResponse(500, HOSTILE),
    );
    const [list, error] = await call([['images_list'], ['my_images']], env);
    expect(list.rows[0].name).toBe(name);
    expect(list.text).toContain(HOSTILE_ESCAPED.slice(0, -4));
    expect(error.isError).toBe(true);
    expect(error.messages[0].error.message).not.toMatch(RAW_HARM);
  });

  it('masks the token and the password in every answer', async () => {
    const canary = 'canary-0123456789abcdef';
    const { env } = await scriptedUser(
      ({ url, headers }) => {
        const echo = `${headers.authorization}`;
        return url.pathname === '/v2/image'
          ? { json: cataloguePage(url, [{ ...testImage(1), name: echo, label: canary }]) }
          : errorResponse(500, echo);
      },
      { IMGCTL_TOKEN: canary },
    );
    const answers = await call(
      [['images_list', { columns: ['name', 'label'] }], ['my_images']],
      env,
    );
    for (const { text } of answers) expect(text).not.toContain(canary);
    expect(answers[0].rows).toEqual([{ name: 'Bearer ***', label: '***' }]);
  });

  it('skips lines that are no messages, and goes on', async () => {
    const { env } = await emulatorUser();
    const lines = [
      '{nonsense',
      '[]',
      '{"jsonrpc":"1.0"}',
      '"text"',
      '',
      'x'.repeat(2 ** 20 + 1),
      '{"jsonrpc":"2.0","id":1,"method":"no/such"}',
      '{"jsonrpc":"2.0","method":"notifications/no-such"}',
      '{"jsonrpc":"2.0","id":2,"method":"ping"}',
    ];
    const { replies, exitCode } = await exchange(lines, { env });
    expect(exitCode).toBe(0);
    expect(replies.map(({ id, error }) => [id, error?.code])).toEqual([
      [1, -32_601],
      [2, undefined],
    ]);
  });

  it('ends at once if nothing is asked', async () => {
    expect(await runCli(['mcp'], { stdin: '' })).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  });
});
