// doctor: settings, profiles, environment and formats.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { SETTINGS } from '../../src/session/setting-table.ts';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { unixOnly } from '../support/platform.ts';
import { configDirectory, emulatorUser } from '../support/users.ts';
import { diagnose } from './doctor-harness.ts';

describe('doctor', () => {
  it('checks the service even if config.json is invalid', async () => {
    const { env, requests } = await emulatorUser();
    writeFileSync(path.join(env.IMGCTL_CONFIG_DIR, 'config.json'), '{"secret": ');
    const { of, exitCode } = await diagnose({ env });
    expect(of('configuration')).toMatch(
      /^failed: .*config\.json: not valid JSON at line 1.* -> fix/,
    );
    expect(of('connection')).toMatch(/^ok: /);
    expect([requests, exitCode]).toEqual([['GET /v2'], 2]);
    const homeless = await diagnose({ env: { IMGCTL_CONFIG_DIR: env.IMGCTL_CONFIG_DIR } });
    expect(homeless.of('connection')).toBe('not checked: configuration failed');
    expect(homeless.exitCode).toBe(2);
  });

  unixOnly('modes are Unix')('reports every invalid setting with its hint', async () => {
    const settings = { 'bas-url': 'x', timeout: 'soon', 'columns.images': 'id,nam', retries: '3' };
    const directory = configDirectory(settings);
    const { rows } = await diagnose({
      env: { IMGCTL_CONFIG_DIR: directory, IMGCTL_OUTPUT: 'xml', IMGCTL_USERNAME: 'a:b' },
    });
    const found = rows.filter(({ check }) => check === 'settings');
    expect(found.map(({ state, finding }) => `${state}: ${finding}`)).toEqual([
      'failed: invalid username: a:… (from IMGCTL_USERNAME)',
      'failed: invalid timeout: soon (from profile default)',
      expect.stringMatching(/^failed: unknown field 'nam' in setting columns\.images/),
      'warning: unknown setting bas-url; did you mean base-url?',
    ]);
    expect(found.map(({ hint }) => hint)).toEqual([
      'use a user name without a colon',
      'imgctl config set timeout VALUE (use a duration such as 500ms, 30s, 5m, 1h, 2d or 3w)',
      expect.stringMatching(/^imgctl config set columns\.images VALUE \(did you mean name\?/),
      `remove it from ${path.join(directory, 'config.json')}`,
    ]);
  });

  it('prints a table if the output format is invalid', async () => {
    const { stdout, exitCode } = await runCli(['doctor'], { env: { IMGCTL_OUTPUT: 'xml' } });
    expect(stdout).toMatch(
      /\nsettings +failed +invalid output: xml \(from IMGCTL_OUTPUT\) -> valid/,
    );
    expect(exitCode).toBe(2);
  });

  it('suggests the nearest profile', async () => {
    const { env, imgctl } = await emulatorUser();
    await imgctl(['config', 'set', 'time', 'iso', '--profile', 'staging']);
    const { of } = await diagnose({ env: { ...env, IMGCTL_PROFILE: 'stagin' } });
    expect(of('configuration')).toBe(
      'warning: unknown profile stagin; profiles: staging -> use --profile staging, or run: imgctl login --profile stagin',
    );
    const wrong = await diagnose({ env: { ...env, IMGCTL_PROFILE: '../x' } });
    expect(wrong.of('configuration')).toMatch(/^failed: invalid profile name/);
    expect(wrong.exitCode).toBe(2);
  });

  it('accepts every variable that the help names, and every variable of a setting', async () => {
    const { stdout } = await runCli(['help', 'environment']);
    const named = stdout.match(/\bIMGCTL_\w+/g) ?? [];
    const ofSettings = Object.values(SETTINGS).flatMap((setting) =>
      'env' in setting ? setting.env : [],
    );
    expect(named).toEqual(expect.arrayContaining([...ofSettings, 'IMGCTL_UPLOAD_PASSWORD']));
    const { rows } = await diagnose({ env: Object.fromEntries(named.map((name) => [name, '1'])) });
    expect(rows.filter(({ finding }) => finding.includes('is ignored'))).toEqual([]);
  });

  it('warns about variables without effect', async () => {
    const { rows } = await diagnose({
      env: {
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_EXTRA_CA_CERTS: '/no/such.pem',
        ALL_PROXY: 'http://proxy',
        IMGCTL_BASEURL: 'https://x',
        IMGCTL_XYZZY: '1',
        IMGCTL_UPLOAD_URL: 'x',
      },
    });
    const found = rows.filter(({ check }) => check === 'environment');
    expect(found.map(({ finding }) => finding.split(' ')[0])).toEqual([
      'NODE_TLS_REJECT_UNAUTHORIZED=0',
      'NODE_EXTRA_CA_CERTS',
      'ALL_PROXY',
      'IMGCTL_BASEURL',
      'IMGCTL_XYZZY',
      'IMGCTL_UPLOAD_URL',
    ]);
    expect(found.at(-1)?.hint).toBe('imgctl config set upload-url VALUE');
    expect(found.every(({ state, hint }) => state === 'warning' && hint)).toBe(true);
  });

  unixOnly('modes are Unix')('prints the same rows in every format', async () => {
    const env = { IMGCTL_CONFIG_DIR: temporaryDirectory() };
    const csv = await runCli(['doctor', '-o', 'csv'], { env });
    expect(csv.stdout).toMatch(/^check,state,finding,hint\r\nprogram,ok,/);
    const ndjson = await runCli(['doctor', '-o', 'ndjson'], { env });
    expect(JSON.parse(ndjson.stdout.split('\n')[0] ?? '')).toMatchObject({ check: 'program' });
    const table = await runCli(['doctor'], { env, columns: 40 });
    expect(table.stdout).toContain('to try without an account: imgctl demo\n');
    const quiet = await runCli(['doctor', '-q'], { env });
    expect(quiet.stdout).toBe('connection\n');
  });
});
