// The official client of the protocol, connected to the built program in another process.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { onTestFinished } from 'vitest';
import { COMMAND, type Environment } from './cli.ts';

/**
 * Starts `imgctl mcp` with these options and connects to it; both end with the test.
 * @param mode the protocol with an opening handshake (legacy), or the newest one that both sides know
 */
export async function connect(
  env: Environment,
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
