// imgctl doctor: what it says of settings, profiles and the environment, and the formats in which it does.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli, temporaryDirectory } from '../support/io.ts';
import { startAccount } from './account.ts';
import { diagnose, folderWith } from './doctor-harness.ts';

describe('settings', () => {
  it('goes on without a file that cannot be read', async () => {
    const { env, requests } = await startAccount();
    writeFileSync(path.join(env.IMGCTL_CONFIG_DIR ?? '', 'config.json'), '{"secret": ');
    const { of, exitCode } = await diagnose({ env });
    expect(of('configuration')).toMatch(
      /^failed: .*config\.json: not valid JSON at line 1.* -> fix/,
    );
    expect(of('service')).toMatch(/^ok: /);
    expect([requests, exitCode]).toEqual([['GET /v2'], 2]);
  });

  it('names every setting that is wrong, with its remedy', async () => {
    const settings = { 'bas-url': 'x', timeout: 'soon', 'columns.images': 'id,nam', retries: '3' };
    const directory = folderWith(settings);
    const { rows } = await diagnose({
      env: { IMGCTL_CONFIG_DIR: directory, IMGCTL_OUTPUT: 'xml', IMGCTL_USERNAME: 'a:b' },
    });
    const found = rows.filter(({ check }) => check === 'settings');
    expect(found.map(({ state, finding }) => `${state}: ${finding}`)).toEqual([
      'failed: invalid username: a:… (from IMGCTL_USERNAME)',
      'failed: invalid timeout: soon (from profile default)',
      expect.stringMatching(/^failed: unknown field 'nam' in setting columns\.images/),
      'warning: unknown setting bas-url; base-url was probably meant',
    ]);
    expect(found.map(({ remedy }) => remedy)).toEqual([
      'use a user name without a colon',
      'imgctl config set timeout VALUE (use a duration such as 500ms, 30s, 5m or 1h)',
      expect.stringMatching(/^imgctl config set columns\.images VALUE \(did you mean name\?/),
      `take it out of the file by hand: ${path.join(directory, 'config.json')}`,
    ]);
  });

  it('shows a table where the output format itself is wrong', async () => {
    const { stdout, exitCode } = await runCli(['doctor'], { env: { IMGCTL_OUTPUT: 'xml' } });
    expect(stdout).toMatch(
      /\nsettings +failed +invalid output: xml \(from IMGCTL_OUTPUT\) -> valid/,
    );
    expect(exitCode).toBe(2);
  });

  it('suggests the profile that was meant', async () => {
    const { env, imgctl } = await startAccount();
    await imgctl(['config', 'set', 'time', 'iso', '--profile', 'staging']);
    const { of } = await diagnose({ env: { ...env, IMGCTL_PROFILE: 'stagin' } });
    expect(of('profile')).toBe(
      'warning: stagin has no settings; there are: staging -> --profile staging, or: imgctl login --profile stagin',
    );
    const wrong = await diagnose({ env: { ...env, IMGCTL_PROFILE: '../x' } });
    expect(wrong.of('profile')).toMatch(/^failed: invalid profile name/);
    expect(wrong.exitCode).toBe(2);
  });

  it('warns of an environment that does not do what it seems to', async () => {
    const { rows } = await diagnose({
      env: {
        NODE_TLS_REJECT_UNAUTHORIZED: '0',
        NODE_EXTRA_CA_CERTS: '/no/such.pem',
        ALL_PROXY: 'http://proxy',
        IMGCTL_BASEURL: 'https://x',
        IMGCTL_BIN: '/usr/bin/imgctl',
      },
    });
    const found = rows.filter(({ check }) => check === 'environment');
    expect(found.map(({ finding }) => finding.split(' ')[0])).toEqual([
      'NODE_TLS_REJECT_UNAUTHORIZED=0',
      'NODE_EXTRA_CA_CERTS',
      'ALL_PROXY',
      'IMGCTL_BASEURL',
    ]);
    expect(found.every(({ state, remedy }) => state === 'warning' && remedy)).toBe(true);
  });
});

describe('formats', () => {
  it('has the same rows in all of them', async () => {
    const env = { IMGCTL_CONFIG_DIR: temporaryDirectory() };
    const csv = await runCli(['doctor', '-o', 'csv'], { env });
    expect(csv.stdout).toMatch(/^check,state,finding,remedy\r\nimgctl,ok,/);
    const ndjson = await runCli(['doctor', '-o', 'ndjson'], { env });
    expect(JSON.parse(ndjson.stdout.split('\n')[0] ?? '')).toMatchObject({ check: 'imgctl' });
    const table = await runCli(['doctor'], { env, columns: 40 });
    expect(table.stdout).toContain('to try without an account: imgctl demo\n');
    const quiet = await runCli(['doctor', '-q'], { env });
    expect(quiet.stdout).toBe('base URL\n');
  });
});
