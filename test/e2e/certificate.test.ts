// The certificate of the service, with the variable that turns verification off in Node.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { programUser, runProgram } from '../support/program.ts';

it('an unknown certificate is rejected until ca-file names it, even with NODE_TLS_REJECT_UNAUTHORIZED=0', async () => {
  const identity = selfSigned('127.0.0.1');
  const { env, requests } = await programUser({ 'GET /v2': { body: 'here' } }, identity);
  const unverified = { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' };
  const refused = await runProgram(['api', '/v2'], { env: unverified });
  expect(refused).toMatchObject({ stdout: '', exitCode: 3 });
  expect(refused.stderr.split('\n')).toEqual([
    'imgctl: warning: NODE_TLS_REJECT_UNAUTHORIZED=0 is ignored: certificates are always verified',
    expect.stringMatching(/^hint: .*ca-file/),
    expect.stringMatching(/no trusted TLS connection to .*: self-signed certificate$/),
    expect.stringMatching(/^hint: .*imgctl config set ca-file/),
    '',
  ]);
  expect(requests()).toEqual([]);
  const file = path.join(env.HOME, 'ca.pem');
  writeFileSync(file, identity.cert);
  expect(await runProgram(['config', 'set', 'ca-file', file], { env })).toMatchObject({
    exitCode: 0,
  });
  expect(await runProgram(['api', '/v2'], { env })).toMatchObject({ stdout: 'here', exitCode: 0 });
});
