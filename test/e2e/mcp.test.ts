// The MCP server of the built program, with the official client in another process.

import { once } from 'node:events';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import { serve } from '../support/emulator.ts';
import { COMMAND, programUser, startProgram } from '../support/program.ts';
import { STALL } from '../support/scripted-server.ts';
import { account, freshHome } from '../support/users.ts';

/**
 * Starts `imgctl mcp` with these options and connects to it; both end with the test.
 * @param mode the protocol with an opening handshake (legacy), or the newest one that both sides know
 */
async function connect(
  env: Readonly<Record<string, string>>,
  options: readonly string[] = [],
  mode: 'legacy' | 'auto' = 'auto',
) {
  const [command, ...program] = COMMAND;
  const args = [...program, 'mcp', ...options];
  const transport = new StdioClientTransport({ command, args, env: { ...env }, stderr: 'pipe' });
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    pid: transport.pid,
    /** Calls a tool; returns the parsed text and whether it is an error. */
    async call(name: string, given: Record<string, unknown> = {}, signal?: AbortSignal) {
      const options = signal === undefined ? {} : { signal };
      const result = await client.callTool({ name, arguments: given }, options);
      const [content] = result.content;
      const text = content?.type === 'text' ? content.text : '';
      return { isError: result.isError === true, content: JSON.parse(text) };
    },
  };
}

describe('the MCP server', () => {
  it.each([
    ['legacy', '2025-11-25'],
    ['auto', '2026-07-28'],
  ] as const)('opens, lists its tools and answers calls (%s, %s)', async (mode, version) => {
    const env = account((await serve({ syncDelay: 0 })).baseUrl);
    const { client, call } = await connect(env, ['--allow-sync'], mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'imgctl' });
    const { tools } = await client.listTools();
    const names = ['images_list', 'images_get', 'my_images', 'sync_status', 'package_inspect'];
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...names, 'sync']));
    expect((await call('sync')).content).toMatchObject({ rows: [{ id: 1 }] });
  });

  it('cancels a call, and answers those beside it and after it', async () => {
    const service = await programUser(({ url }) => {
      const isStalled = url.searchParams.get('filter')?.includes('stall');
      return isStalled ? STALL : { json: cataloguePage(url, testImages(3)) };
    });
    const { call } = await connect(service.env);
    const abort = new AbortController();
    const stalled = call('images_list', { text: ['stall'] }, abort.signal);
    const beside = await Promise.all(Array.from({ length: 10 }, () => call('images_list')));
    expect(beside.map(({ content }) => content.total)).toEqual(Array(10).fill(3));
    abort.abort();
    await expect(stalled).rejects.toThrow();
    expect((await call('images_list')).content.total).toBe(3);
  });

  it('ends with 143 on SIGTERM', async () => {
    const env = { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9' };
    const server = startProgram(['mcp'], { env, stdin: { open: true } });
    server.child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    await server.waitFor('stdout', '\n');
    server.child.kill('SIGTERM');
    const [code, signal] = await once(server.child, 'exit');
    expect(signal === 'SIGTERM' || code === 143).toBe(true);
  });
});
