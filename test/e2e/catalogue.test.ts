// The catalogue through the built program and a service in a process of its own, against plain HTTP requests.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImageList } from '../../src/api/types.ts';
import {
  account,
  COMMAND,
  type EmulatorProcess,
  runBuilt,
  startEmulatorProcess,
} from '../support/cli.ts';

let emulator: EmulatorProcess;

beforeAll(async () => {
  emulator = await startEmulatorProcess('--images', '250', '--token-limit', '100');
});
afterAll(async () => {
  await emulator.stop();
});

/** The service's own answer, fetched with the token that the program prints. */
async function fetchPage(env: Readonly<Record<string, string>>, query: string): Promise<ImageList> {
  const { stdout } = await runBuilt(['token'], { env });
  const response = await fetch(`${emulator.baseUrl}/v2/image?${query}`, {
    headers: { Authorization: `Bearer ${stdout.trim()}` },
  });
  expect(response.status).toBe(200);
  return (await response.json()) as ImageList;
}

describe('imgctl images list', () => {
  it('lists as many images as the service counts for the same filter', async () => {
    const env = account(emulator.baseUrl);
    const page = await fetchPage(env, 'filter=name,like,%25ubuntu%25');
    const { total } = page.meta.pages;
    expect(total).toBeGreaterThan(page.data.length);
    const argv = ['images', 'list', '--filter', 'name,like,%ubuntu%', '--json'];
    const result = await runBuilt(argv, { env });
    expect(result).toMatchObject({ stderr: '', exitCode: 0 });
    expect(JSON.parse(result.stdout)).toHaveLength(total);
  });

  it('lists every image without a filter', async () => {
    const env = account(emulator.baseUrl);
    const result = await runBuilt(['images', 'list', '-q'], { env });
    expect(new Set(result.stdout.trim().split('\n')).size).toBe(250);
  });

  it('gives one page as the service gives it', async () => {
    const env = account(emulator.baseUrl);
    const { data } = await fetchPage(env, 'page=2&per_page=10&expand=1');
    expect(data).toHaveLength(10);
    const argv = ['images', 'list', '--page', '2', '--per-page', '10', '--json'];
    const result = await runBuilt(argv, { env });
    expect(result).toMatchObject({ stderr: '', exitCode: 0 });
    expect(JSON.parse(result.stdout)).toEqual(data);
  });

  // The json is longer than a pipe holds, so that the program writes to a reader that is gone.
  it.each(['table', 'json', 'ndjson'])(
    'ends quietly when head closes early: %s',
    async (format) => {
      const script = `"$@" images list -o ${format} | head -1`;
      const shell = spawn('bash', ['-o', 'pipefail', '-c', script, 'bash', ...COMMAND], {
        env: account(emulator.baseUrl),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const output = { stdout: '', stderr: '' };
      shell.stdout.on('data', (chunk) => {
        output.stdout += chunk;
      });
      shell.stderr.on('data', (chunk) => {
        output.stderr += chunk;
      });
      const [exitCode] = await once(shell, 'close');
      expect({ ...output, exitCode }).toMatchObject({ stderr: '', exitCode: 0 });
      expect(output.stdout.split('\n')).toHaveLength(2);
    },
  );
});
