// TLS with the built program: nothing switches the verification of certificates off.

import { expect, it, onTestFinished } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { freshHome, runBuilt } from '../support/cli.ts';
import { startScriptedServer } from '../support/scripted-server.ts';

async function startTls() {
  const server = await startScriptedServer({ 'GET /v2': { json: 1 } }, selfSigned('127.0.0.1'));
  onTestFinished(() => server.close());
  const env = { ...freshHome(), IMGCTL_BASE_URL: server.baseUrl, IMGCTL_TOKEN: 'T' };
  return { server, env };
}

const IGNORED = 'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified';

it('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored, and one warning says so', async () => {
  const { server, env } = await startTls();
  const unsafe = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const result = await runBuilt(['api', '/v2'], { env: unsafe });
  expect(result).toMatchObject({ stdout: '', exitCode: 3 });
  const [warning, hint, error] = result.stderr.split('\n');
  expect(warning).toBe(`imgctl: warning: ${IGNORED}`);
  expect(hint).toMatch(/^hint: .*ca-file/);
  expect(error).toMatch(/^imgctl: no trusted TLS connection to .*: DEPTH_ZERO_SELF_SIGNED_CERT$/);
  expect(result.stderr.match(/NODE_TLS_REJECT_UNAUTHORIZED/g)).toHaveLength(1);
  expect(server.requests).toEqual([]);

  const json = await runBuilt(['api', '/v2', '--json'], { env: unsafe });
  const lines = json.stderr.trimEnd().split('\n');
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([['warning'], ['error']]);
});

it('without it there is no warning', async () => {
  const { env } = await startTls();
  const { stderr } = await runBuilt(['api', '/v2'], { env });
  expect(stderr).toMatch(/^imgctl: no trusted TLS connection .*\nhint: .*\n$/);
});
