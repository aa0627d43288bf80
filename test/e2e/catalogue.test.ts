// images list of the built program with an emulator in another process.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ImageList } from '../../src/api/types.ts';
import {
  account,
  COMMAND,
  type EmulatorProcess,
  LIST,
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

describe('images list', () => {
  it('prints as many images as the service counts', async () => {
    const env = account(emulator.baseUrl);
    const token = (await runBuilt(['token'], { env })).stdout.trim();
    const response = await fetch(`${emulator.baseUrl}/v2/image?filter=name,like,%25ubuntu%25`, {
      headers: { Authorization: `Bearer ${token}` },
    });
    const { data, meta } = (await response.json()) as ImageList;
    expect(meta.pages.total).toBeGreaterThan(data.length);
    const result = await runBuilt([...LIST, '--filter', 'name,like,%ubuntu%'], { env });
    expect(result).toMatchObject({ stderr: '', exitCode: 0 });
    expect(JSON.parse(result.stdout)).toHaveLength(meta.pages.total);
  });

  // The JSON is longer than the buffer of a pipe, so that the program writes to a closed pipe.
  it.each(['table', 'json', 'ndjson'])(
    'exits 0 without a message when head closes the pipe: %s',
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
