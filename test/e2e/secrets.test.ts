// Canaries: password, token and their base64 forms show up nowhere but where they were asked for.

import { describe, expect, it } from 'vitest';
import { account, runBuilt } from '../support/cli.ts';
import { serve } from './failures.ts';

const PASSWORD = 'canary-of-a-password';

describe.each(['table', 'json'])('--debug -o %s', (format) => {
  it('shows no secret, whatever the command and however it ends', async () => {
    const { baseUrl } = await serve({ users: [{ name: 'alice', password: PASSWORD }] });
    const env = account(baseUrl, 'alice', PASSWORD);
    const token = (await runBuilt(['token'], { env })).stdout.trim();
    expect(token).toMatch(/^\S{20,}$/);
    const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '');
    const secrets = [PASSWORD, token, base64(`alice:${PASSWORD}`), base64(`${token}:`)];

    for (const argv of [
      ['login'],
      ['whoami', '--check'],
      ['images', 'list', '--limit', '1'],
      ['images', 'get', '999999'],
      ['sync'],
      ['api', '/v2', '-i'],
      ['api', '/v2', '--timeout', '1ms', '--retries', '0'],
    ]) {
      const { stdout, stderr } = await runBuilt([...argv, '-o', format, '--debug'], { env });
      expect(stderr).toContain(baseUrl);
      for (const secret of secrets) expect(stdout + stderr).not.toContain(secret);
    }
  });
});
