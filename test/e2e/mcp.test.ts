// The MCP server of the built program, with the official client in another process.

import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cataloguePage, testImages } from '../support/catalogue-page.ts';
import {
  account,
  freshHome,
  runBuilt,
  scriptedService,
  startCli,
  startEmulatorProcess,
} from '../support/cli.ts';
import { connect } from '../support/mcp-client.ts';
import { STALL } from '../support/scripted-server.ts';

/** The user of an emulator that runs as another process. */
async function emulatorAccount(...options: string[]) {
  const emulator = await startEmulatorProcess(...options);
  onTestFinished(async () => {
    await emulator.stop();
  });
  return { emulator, env: account(emulator.baseUrl) };
}

describe('the MCP server', () => {
  it.each([
    ['legacy', '2025-11-25'],
    ['auto', '2026-07-28'],
  ] as const)('opens, lists its tools and answers calls (%s, %s)', async (mode, version) => {
    const { env } = await emulatorAccount('--images', '60', '--sync-delay', '1ms');
    const { client, call } = await connect(env, ['--allow-sync'], mode);
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    expect(client.getServerVersion()).toMatchObject({ name: 'imgctl' });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining([
        'images_list',
        'images_get',
        'my_images',
        'sync_status',
        'package_inspect',
        'sync',
      ]),
    );
    expect(JSON.stringify(tools).length).toBeLessThan(6_000);
    const list = await call('images_list', { limit: 5 });
    expect(list).toMatchObject({ isError: false, content: { total: 60, rows: { length: 5 } } });
    expect((await call('sync')).content).toMatchObject({ rows: [{ id: 1 }] });
    expect((await call('images_get', { images: ['no-such-image'] })).content).toMatchObject({
      messages: [{ error: { code: 'not-found', hint: expect.any(String) } }],
    });
    await expect(client.callTool({ name: 'api', arguments: {} })).rejects.toThrow('api not found');
    // The token that the server requested is the one of the commands.
    const whoami = await runBuilt(['whoami', '--json'], { env });
    expect(JSON.parse(whoami.stdout)).toMatchObject({ token: 'valid' });
  });

  it('cancels a call, and answers those beside and after it', async () => {
    const images = testImages(3);
    const service = await scriptedService(({ url }) =>
      url.searchParams.get('filter')?.includes('stall')
        ? STALL
        : { json: cataloguePage(url, images) },
    );
    const { call } = await connect(service.env);
    const abort = new AbortController();
    const stalled = call('images_list', { text: ['stall'] }, abort.signal);
    const beside = await Promise.all(Array.from({ length: 10 }, () => call('images_list')));
    expect(beside.map(({ content }) => content.total)).toEqual(Array(10).fill(3));
    abort.abort();
    await expect(stalled).rejects.toThrow();
    expect((await call('images_list')).content).toMatchObject({ total: 3 });
  });

  it('answers an error while the service is down, and works when it is back', async () => {
    const { emulator, env } = await emulatorAccount();
    const { call } = await connect({ ...env, IMGCTL_TIMEOUT: '5s' }, ['--retries', '0']);
    await emulator.stop();
    expect(await call('images_list')).toMatchObject({
      isError: true,
      content: { messages: [{ error: { code: 'unreachable', exitCode: 3 } }] },
    });
    const { port } = new URL(emulator.baseUrl);
    const again = startCli(['emulator', '--port', port], { env: freshHome() });
    await again.waitFor('stdout', '\n');
    expect(await call('images_list')).toMatchObject({ isError: false });
  });

  it('ends with 0 when its input ends, and with 143 on SIGTERM', async () => {
    const env = { ...freshHome(), IMGCTL_BASE_URL: 'http://127.0.0.1:9' };
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
    const ended = await runBuilt(['mcp'], { env, stdin: ping });
    expect(ended).toEqual({ stdout: expect.stringContaining('"id":1'), stderr: '', exitCode: 0 });
    const server = startCli(['mcp'], { env, stdin: { open: true } });
    server.child.stdin?.write(ping);
    await server.waitFor('stdout', '\n');
    server.child.kill('SIGTERM');
    const [code, signal] = await once(server.child, 'exit');
    expect(signal === 'SIGTERM' || code === 143).toBe(true);
  });
});
