// Every command of the tree, traced, with a password command and a proxy that has a password: no secret shows.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CommandDeclaration } from '../../src/cli/declarations.ts';
import { ROOT } from '../../src/commands/index.ts';
import { type Tool, toolsFor } from '../../src/mcp/tools.ts';
import { account } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import {
  formsOfToken,
  newSecrets,
  placesOf,
  recordingCommand,
  tokensBelow,
  watchedRun,
  withTemporaryFolder,
} from './canaries.ts';
import { report } from './home.ts';

/** Arguments of commands; any other command gets `x` for each required one. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  'images get': ['1001', 'no-such-image'],
  whoami: ['--check'],
  api: ['/v2/image', '-i'],
  'sync-status': ['1'],
  'config get': ['base-url'],
  'config set': ['timeout', '20s'],
  'config unset': ['timeout'],
  'profile use': ['default'],
  'profile delete': ['default'],
  completion: ['bash'],
  emulator: ['--port', '0'],
};

/** Returns valid arguments of an MCP tool, and the same with a text wherever it may stand. */
function argumentsOfTool({ input: { shape } }: Tool, text: string): object[] {
  const pick = (values: object) =>
    Object.fromEntries(Object.entries(values).filter(([name]) => name in shape));
  return [
    pick({ text: ['ubuntu'], images: ['1001'], file: 'missing.ova' }),
    pick({ text: [text], images: [text], file: text, id: text }),
  ];
}

/** The commands that do something, by their words. */
function leaves(
  command: CommandDeclaration,
  words: readonly string[] = [],
): [string, CommandDeclaration][] {
  const { subcommands, hidden } = command;
  if (hidden) return [];
  if (!subcommands) return [[words.join(' '), command]];
  return subcommands.flatMap((next) => leaves(next, [...words, next.name]));
}

const COMMANDS = leaves(ROOT);

function argumentsOf(name: string, command: CommandDeclaration): readonly string[] {
  const required = (command.arguments ?? []).filter((argument) => argument.required);
  return ARGUMENTS[name] ?? required.map(() => 'x');
}

describe.each(['table', 'json'])('imgctl --debug -o %s', (format) => {
  it('shows no secret in any command that renews its token', { timeout: 120_000 }, async () => {
    const secrets = newSecrets();
    const { user, proxy } = secrets;
    const emulator = await serve({ users: [user], tokenLimit: 1_000, syncDelay: 1 });
    const recorder = recordingCommand(user.password);
    const { IMGCTL_PASSWORD: _password, ...plain } = account(emulator.baseUrl, user.name);
    const environment = withTemporaryFolder(plain);
    const proxyUrl = `http://${proxy.name}:${proxy.password}@proxy.invalid:3128`;
    const env = {
      ...environment,
      IMGCTL_PASSWORD_COMMAND: recorder.command,
      // Loopback is reached directly, but doctor shows the proxy.
      HTTPS_PROXY: proxyUrl,
      HTTP_PROXY: proxyUrl,
    };
    const tokens = new Set<string>();
    const found: Record<string, readonly string[]> = {};
    for (const [name, command] of COMMANDS) {
      emulator.expireTokens();
      const argv = [...name.split(' '), ...argumentsOf(name, command), '--debug', '-o', format];
      const ended = await watchedRun(argv, { env }, async (running) => {
        if (name !== 'emulator') return;
        await running.waitFor('stdout', '\n');
        running.child.kill('SIGTERM');
      });
      for (const token of tokensBelow(env.HOME)) tokens.add(token);
      const texts = [...secrets.forms, ...[...tokens].flatMap(formsOfToken)];
      // Child processes inherit the proxy variables.
      const processes = ended.processes.replaceAll(proxyUrl, '');
      const options = { stdout: name !== 'token' };
      const places = placesOf(texts, { ...ended, processes }, [env.HOME], options);
      if (places.length > 0) found[name] = places;
    }
    expect(found).toEqual({});
    expect(tokens.size).toBeGreaterThan(5);
    const seen = recorder.seen().replaceAll(proxyUrl, '');
    expect(seen).toContain('imgctl');
    for (const text of secrets.forms) expect(seen).not.toContain(text);
    report(`${COMMANDS.length} commands, ${tokens.size} tokens: no secret in -o ${format}`);
  });
});

it('the MCP server shows no secret in the answer of any tool', { timeout: 60_000 }, async () => {
  const secrets = newSecrets();
  const { user } = secrets;
  const emulator = await serve({ users: [user], syncDelay: 1 });
  const env = {
    ...withTemporaryFolder(account(emulator.baseUrl, user.name)),
    IMGCTL_PASSWORD: user.password,
  };
  const tools = toolsFor(true);
  const clientInfo = { name: 'test', version: '1' };
  const messages = [
    {
      id: 0,
      method: 'initialize',
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
    },
    { method: 'notifications/initialized' },
    { id: 1, method: 'tools/list' },
    ...tools.flatMap((tool, index) =>
      // A user may have pasted the password.
      argumentsOfTool(tool, user.password).map((given, variant) => ({
        id: 100 * (index + 1) + variant,
        method: 'tools/call',
        params: { name: tool.name, arguments: given },
      })),
    ),
  ];
  const stdin = messages
    .map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    .join('');
  const ended = await watchedRun(['mcp', '--allow-sync', '--debug'], { env, stdin });
  expect(ended.stdout.trim().split('\n')).toHaveLength(messages.length - 1);
  const tokens = tokensBelow(env.HOME);
  expect(tokens).toHaveLength(1);
  expect(ended.stdout).toContain('***');
  const texts = [...secrets.forms, ...tokens.flatMap(formsOfToken)];
  expect(placesOf(texts, ended, [env.HOME], { stdout: true })).toEqual([]);
});

it('placesOf finds a secret in streams, processes and files', async () => {
  const secrets = newSecrets();
  const folder = temporaryDirectory();
  const shown = `-- ${secrets.token} --`;
  writeFileSync(path.join(folder, 'note'), shown);
  const ended = { stdout: shown, stderr: shown, exitCode: 0, processes: shown };
  expect(placesOf(secrets.forms, ended, [folder], { stdout: true })).toEqual([
    'stderr: -- <<SECRET>> --',
    'processes',
    'stdout: -- <<SECRET>> --',
    path.join(folder, 'note'),
  ]);
});
