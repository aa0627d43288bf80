// TLS with the built program: nothing switches the verification of certificates off.

import { expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { runBuilt, scriptedService } from '../support/cli.ts';

const IGNORED = 'NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified';

it('NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored, and one warning says so', async () => {
  const service = await scriptedService({ 'GET /v2': { json: 1 } }, selfSigned('127.0.0.1'));
  const env = { ...service.env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const result = await runBuilt(['api', '/v2'], { env });
  expect(result).toMatchObject({ stdout: '', exitCode: 3 });
  const [warning, hint, error] = result.stderr.split('\n');
  expect(warning).toBe(`imgctl: warning: ${IGNORED}`);
  expect(hint).toMatch(/^hint: .*ca-file/);
  expect(error).toMatch(/^imgctl: no trusted TLS connection to .*: DEPTH_ZERO_SELF_SIGNED_CERT$/);
  expect(result.stderr.match(/NODE_TLS_REJECT_UNAUTHORIZED/g)).toHaveLength(1);
  expect(service.sent()).toEqual([]);

  const json = await runBuilt(['api', '/v2', '--json'], { env });
  const lines = json.stderr.trimEnd().split('\n');
  expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([['warning'], ['error']]);
});
