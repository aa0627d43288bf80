// AWS_ variables: which key signs the requests to an S3 storage, with, without and beside imgctl's own.

import { describe, expect, it } from 'vitest';
import { settle } from '../../src/config/settings.ts';
import { awsCredentials } from '../../src/secrets/aws.ts';
import { failed, fakeIo } from '../support/io.ts';
import { pushToScript, SECRETS, storageUser, writeOva } from '../support/uploads.ts';
import { configDirectory } from '../support/users.ts';

const AWS = {
  AWS_ACCESS_KEY_ID: 'AKIAOFAWS',
  AWS_SECRET_ACCESS_KEY: SECRETS.storage,
  AWS_SESSION_TOKEN: SECRETS.session,
  AWS_REGION: 'eu-north-1',
};
const OWN = {
  IMGCTL_UPLOAD_ACCESS_KEY: 'own',
  IMGCTL_UPLOAD_SECRET: SECRETS.storage,
};
/** Nothing of imgctl but the address. */
const NONE = { IMGCTL_UPLOAD_SECRET: '', IMGCTL_UPLOAD_SESSION_TOKEN: '' };

/** Pushes with these variables, and returns what signed its requests. */
async function push(env: Record<string, string>, settings: Record<string, string> = {}) {
  const user = await storageUser('s3');
  const url = user.storage.baseUrl;
  const here = Object.entries(env).map(([name, text]) => [name, text.replace('HERE', url)]);
  const IMGCTL_CONFIG_DIR = configDirectory({ 'upload-url': `s3+${url}/s3`, ...settings });
  const line = `push ${writeOva(user.work, 'web')} --no-sync`;
  const changes = { IMGCTL_CONFIG_DIR, ...NONE, ...Object.fromEntries(here) };
  const result = await user.imgctl(line, changes);
  const signed = user.storage.requests.map(({ headers }) => {
    const [, key, region] =
      /Credential=([^/]+)\/\d+\/([^/]+)/.exec(`${headers.authorization}`) ?? [];
    return [key, region, headers['x-amz-security-token'] ? 'token' : 'no token'].join(' ');
  });
  return { ...result, signed: [...new Set(signed)] };
}

const ENDPOINT = { AWS_ENDPOINT_URL_S3: 'HERE' };

it.each<[string, Record<string, string>, Record<string, string>, string]>([
  ['alone', { ...AWS, ...ENDPOINT }, {}, 'AKIAOFAWS eu-north-1 token'],
  [
    'with AWS_ENDPOINT_URL',
    { ...AWS, AWS_ENDPOINT_URL: 'HERE/' },
    {},
    'AKIAOFAWS eu-north-1 token',
  ],
  [
    'without token and region',
    { ...AWS, ...ENDPOINT, AWS_SESSION_TOKEN: '', AWS_REGION: '' },
    {},
    'AKIAOFAWS us-east-1 no token',
  ],
  [
    'with AWS_DEFAULT_REGION beside an empty AWS_REGION',
    { ...AWS, ...ENDPOINT, AWS_REGION: '', AWS_DEFAULT_REGION: 'eu-west-3' },
    {},
    'AKIAOFAWS eu-west-3 token',
  ],
  [
    'with the setting upload-region',
    { ...AWS, ...ENDPOINT, AWS_DEFAULT_REGION: 'other' },
    { 'upload-region': 'here' },
    'AKIAOFAWS here token',
  ],
  [
    'with IMGCTL_UPLOAD_REGION',
    { ...AWS, ...ENDPOINT, IMGCTL_UPLOAD_REGION: 'there' },
    {},
    'AKIAOFAWS there token',
  ],
  [
    'beside key and secret in variables',
    { ...AWS, ...ENDPOINT, ...OWN },
    {},
    'own us-east-1 no token',
  ],
  [
    'beside a key in a setting and a secret command',
    { ...AWS, ...ENDPOINT },
    { 'upload-access-key': 'set', 'upload-secret-command': `echo ${SECRETS.storage}` },
    'set us-east-1 no token',
  ],
])('AWS_ variables %s: signs with the right key', async (_what, env, settings, signed) => {
  const result = await push(env, settings);
  expect(result).toMatchObject({ exitCode: 0, signed: [signed] });
  const said = 'imgctl: using the S3 key in AWS_ACCESS_KEY_ID: AKIAOFAWS\n';
  expect(result.stderr.includes(said)).toBe(signed.startsWith('AKIA'));
  expect(result.stderr).not.toMatch(/canary/);
});

const NO_SECRET = 'no secret key for the upload storage';
const RULE =
  'AWS_ACCESS_KEY_ID is only for amazonaws.com and the host of AWS_ENDPOINT_URL_S3, and is ignored beside a key, secret or token of imgctl';
const NEITHER = 'no access key and no secret key for the upload storage';

it.each<[string, Record<string, string>, string | RegExp]>([
  ['for another host', AWS, new RegExp(`${NEITHER}.*\nhint: .*${RULE}\n$`)],
  ['for another port', { ...AWS, AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:1' }, NEITHER],
  ['for a broken endpoint', { ...AWS, AWS_ENDPOINT_URL_S3: 'none' }, NEITHER],
  ['beside only a key', { ...AWS, ...ENDPOINT, IMGCTL_UPLOAD_ACCESS_KEY: 'own' }, NO_SECRET],
  [
    'beside only a secret',
    { ...AWS, ...ENDPOINT, IMGCTL_UPLOAD_SECRET: 'own' },
    'no access key for',
  ],
  [
    'beside only a token',
    { ...AWS, ...ENDPOINT, IMGCTL_UPLOAD_SESSION_TOKEN: 'own' },
    new RegExp(`${NEITHER}.*\nhint: .*${RULE}\n$`),
  ],
  ['without key and secret', { ...ENDPOINT, AWS_REGION: 'eu-north-1' }, NEITHER],
  [
    'without a secret',
    { ...AWS, ...ENDPOINT, AWS_SECRET_ACCESS_KEY: '' },
    'AWS_ACCESS_KEY_ID is set, but not AWS_SECRET_ACCESS_KEY\nhint: set both, or neither\n',
  ],
  [
    'without a key',
    { ...AWS, ...ENDPOINT, AWS_ACCESS_KEY_ID: '' },
    'AWS_SECRET_ACCESS_KEY is set, but not AWS_ACCESS_KEY_ID\nhint: set both, or neither\n',
  ],
])('AWS_ variables %s: sends nothing', async (_what, env, text) => {
  const { signed, ...result } = await push(env);
  expect(result).toEqual(failed(4, text));
  expect(signed).toEqual([]);
});

it('AWS_ variables with a wrong secret or region are named', async () => {
  const wrong = { ...AWS, ...ENDPOINT, AWS_SECRET_ACCESS_KEY: 'wrong-one' };
  const hint = 'hint: check AWS_SECRET_ACCESS_KEY and AWS_ACCESS_KEY_ID\n';
  expect((await push(wrong)).stderr).toContain(hint);
  const temporary = { ...wrong, AWS_ACCESS_KEY_ID: 'ASIAX', AWS_SESSION_TOKEN: '' };
  expect((await push(temporary)).stderr).toContain(
    'AWS_ACCESS_KEY_ID; keys that begin with ASIA also need AWS_SESSION_TOKEN\n',
  );
  const region = await push({ ...AWS, ...ENDPOINT, AWS_REGION: 'a/b' });
  const lines = await push({ ...AWS, ...ENDPOINT, AWS_SECRET_ACCESS_KEY: 'a\nb' });
  const alone = 'hint: set AWS_SECRET_ACCESS_KEY to this value alone, on one line\n';
  expect(lines).toMatchObject(failed(2, `gave a control character (U+000A)\n${alone}`));
  expect(region).toMatchObject(failed(2, 'invalid AWS_REGION: a/b\n'));
  const control = await push({ ...AWS, ...ENDPOINT, AWS_SECRET_ACCESS_KEY: 'a\u0007b' });
  expect(control).toMatchObject(
    failed(2, 'AWS_SECRET_ACCESS_KEY gave a control character (U+0007)'),
  );
});

it('the session token of AWS_ variables is masked in what the storage sends back', async () => {
  const message = `<Message>${AWS.AWS_SESSION_TOKEN} expired</Message>`;
  const body = `<Error><Code>ExpiredToken</Code>${message}</Error>`;
  const { imgctl, push } = await pushToScript('s3', () => ({ status: 400, body }));
  await imgctl('config unset upload-access-key');
  const { stdout } = await imgctl('config get upload-url');
  const { origin } = new URL(stdout.replace('s3+', ''));
  const { stderr } = await push({ ...NONE, ...AWS, AWS_ENDPOINT_URL_S3: origin });
  expect(stderr).toContain('ExpiredToken: *** expired)');
});

describe('AWS_ variables', () => {
  const config = { profile: undefined, profiles: new Map() };

  it.each([
    ['s3.eu-central-1.amazonaws.com', true],
    ['bucket.s3.amazonaws.com', true],
    ['s3.cn-north-1.amazonaws.com.cn', true],
    ['S3.AMAZONAWS.COM', true],
    ['evilamazonaws.com', false],
    ['amazonaws.com.example.com', false],
    ['s3.amazonaws.cn', false],
  ])('are for %s: %s', (host, isTheirs) => {
    const io = fakeIo({ env: AWS });
    const found = awsCredentials(settle(config, AWS), io, new URL(`https://${host}/b`));
    expect(found !== undefined).toBe(isTheirs);
  });
});
