// doctor: the connection, whose error names DNS, TLS or the proxy.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { requestsTo, STALL, scriptedServer } from '../support/scripted-server.ts';
import { tunnelTo, unusedPort } from '../support/sockets.ts';
import { configDirectory } from '../support/users.ts';
import { diagnose } from './doctor-harness.ts';

const TOKEN = { IMGCTL_TOKEN: 'T' };
const HERE = selfSigned('127.0.0.1');
const SKIPPED = 'not checked: connection failed';

/** Runs doctor against a service over TLS whose certificate is trusted or not. */
async function overTls({ trusted = true, identity = HERE, time = Date.now() }) {
  const date = new Date(time).toUTCString();
  const server = await scriptedServer({ 'GET /v2': { headers: { date }, json: {} } }, identity);
  const ca = path.join(temporaryDirectory(), 'ca.pem');
  writeFileSync(ca, identity.cert);
  const IMGCTL_CONFIG_DIR = configDirectory(trusted ? { 'ca-file': ca } : {});
  const env = { ...TOKEN, IMGCTL_BASE_URL: server.baseUrl, IMGCTL_CONFIG_DIR };
  return { ca, server, ...(await diagnose({ env, time })) };
}

describe('doctor over TLS', () => {
  unixOnly('modes are Unix')('finds no problem with a trusted certificate', async () => {
    const { of, server, problems, exitCode } = await overTls({});
    expect(of('connection')).toBe(`ok: GET ${server.baseUrl}/v2 returned 200`);
    expect({ problems, exitCode }).toEqual({ problems: [], exitCode: 0 });
  });

  it('reports an untrusted certificate, hints at ca-file and sends nothing', async () => {
    const { of, server, exitCode } = await overTls({ trusted: false });
    expect(of('connection')).toMatch(
      /^failed: no trusted TLS connection to .*: DEPTH_ZERO_SELF_SIGNED_CERT -> .*ca-file/,
    );
    expect(of('clock')).toBe(SKIPPED);
    expect(of('token')).toBe('ok: from IMGCTL_TOKEN; not checked with the service');
    expect([server.requests, exitCode]).toEqual([[], 3]);
  });

  unixOnly('/dev is Unix').each([
    ['is missing', '/no/such.pem', 'ENOENT'],
    ['holds no certificate', '/dev/null', 'no PEM certificate'],
  ])('reports a ca-file that %s', async (_what, file, problem) => {
    const IMGCTL_CONFIG_DIR = configDirectory({ 'ca-file': file });
    const env = { IMGCTL_CONFIG_DIR, IMGCTL_BASE_URL: 'https://images.invalid' };
    const { of, exitCode } = await diagnose({ env: { ...env, ...TOKEN } });
    expect(of('connection')).toMatch(
      /^failed: cannot read the ca-file .* -> run: imgctl config set ca-file/,
    );
    expect(of('connection')).toContain(`: ${problem} -> `);
    expect([of('clock'), exitCode]).toEqual([SKIPPED, 2]);
  });
});

describe('doctor', () => {
  const check = (baseUrl: string, env = {}, ...argv: string[]) =>
    diagnose({ env: { ...TOKEN, IMGCTL_BASE_URL: baseUrl, ...env } }, argv);

  it('reports an unknown host name', async () => {
    const { of, exitCode } = await check('https://images.invalid');
    expect(of('connection')).toMatch(
      /^failed: cannot reach https:\/\/images\.invalid: .* -> check/,
    );
    expect(of('clock')).toBe(SKIPPED);
    expect(exitCode).toBe(3);
  });

  it('reports a refused connection', async () => {
    const { baseUrl } = await unusedPort();
    const { of, exitCode } = await check(baseUrl);
    expect(of('connection')).toMatch(/^failed: .*: the connection was refused -> /);
    expect([of('clock'), exitCode]).toEqual([SKIPPED, 3]);
  });

  it('stops at --timeout after one request', async () => {
    const server = await scriptedServer({ 'GET /v2': STALL });
    const { of } = await check(server.baseUrl, {}, '--timeout', '60ms');
    expect(of('connection')).toMatch(
      /^failed: .* within 0\.06 s, still waiting for the response -> /,
    );
    expect(server.requests).toHaveLength(1);
  });

  it('reports the refusal of a proxy without its password', async () => {
    const refusing = await tunnelTo('HTTP/1.1 407 No\r\n\r\n');
    const HTTPS_PROXY = refusing.baseUrl.replace('//', '//someone:canary@');
    const { of, rows, exitCode, stderr } = await check('https://images.example.com', {
      HTTPS_PROXY,
    });
    expect(of('connection')).toMatch(
      /^failed: the proxy .* refused to connect .*: 407 -> add user/,
    );
    expect(JSON.stringify(rows) + stderr).not.toContain('canary');
    expect(exitCode).toBe(3);
  });

  it('reports a proxy that is used and one that is bypassed', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: {} } });
    const IMGCTL_CONFIG_DIR = configDirectory({ 'allow-http': 'true' });
    const env = { http_proxy: server.baseUrl, IMGCTL_CONFIG_DIR };
    const through = await check('http://images.example.com', env);
    expect(through.of('connection')).toMatch(
      /^warning: GET \S+ returned 200, through the proxy http:\/\/127\.0\.0\.1:\d+ from http_proxy; plain http .* unencrypted -> imgctl config set base-url/,
    );
    expect(through.exitCode).toBe(0);

    const { of } = await check(server.baseUrl, env);
    expect(of('connection')).toMatch(/^ok: .* returned 200; http_proxy is bypassed: this machine$/);
    expect(requestsTo(server)).toEqual(['GET http://images.example.com/v2', 'GET /v2']);
  });

  it('reports a proxy that forwards nothing', async () => {
    const server = await scriptedServer(() => ({ status: 407 }));
    const IMGCTL_CONFIG_DIR = configDirectory({ 'allow-http': 'true' });
    const env = { HTTP_PROXY: server.baseUrl, IMGCTL_CONFIG_DIR };
    const { of, exitCode } = await check('http://images.example.com', env);
    expect(of('connection')).toMatch(
      /^failed: the proxy .* refused to connect to images\.example\.com:80: 407 -> add user .* HTTP_PROXY/,
    );
    expect([of('token'), exitCode]).toEqual([
      'ok: from IMGCTL_TOKEN; not checked with the service',
      3,
    ]);
  });

  it('exits 2 for an invalid proxy variable', async () => {
    const { of, exitCode } = await check('https://images.example.com', {
      HTTPS_PROXY: 'socks5://x',
    });
    expect(of('connection')).toMatch(
      /^failed: HTTPS_PROXY is a SOCKS proxy.* -> use the HTTP port/,
    );
    expect([of('clock'), exitCode]).toEqual([SKIPPED, 2]);
  });

  it('traces the request with --debug', async () => {
    const server = await scriptedServer({ 'GET /v2': { json: {} } });
    const env = { ...TOKEN, IMGCTL_BASE_URL: server.baseUrl };
    const answered = await runCli(['doctor', '--debug'], { env });
    expect(answered.stderr).toMatch(/^imgctl: debug: GET http:\S+\/v2: 200 in \d+ ms, 2 B$/m);
    await server.close();
    const refused = await runCli(['doctor', '--debug'], { env });
    expect(refused.stderr).toMatch(/^imgctl: debug: GET http:\S+\/v2: no response after \d+ ms: /m);
  });
});
