// The S3 credentials in the variables of AWS programs, for the hosts of these programs only.

import { SETTINGS } from '../config/definitions.ts';
import type { Settings } from '../config/settings.ts';
import { ImgctlError, tryOr } from '../errors.ts';
import { advice } from '../facts.ts';
import type { Io } from '../io.ts';
import { checkSecret, findSecret } from './secrets.ts';

const AWS_HOSTS = /(?:^|\.)amazonaws\.com(?:\.cn)?$/;

function isAwsHost({ host, hostname }: URL, env: Io['env']): boolean {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = env;
  const endpoints = [AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL].map((url) =>
    tryOr(() => new URL(url ?? '').host, undefined),
  );
  return AWS_HOSTS.test(hostname) || endpoints.includes(host);
}

/**
 * Returns undefined if a setting or variable of imgctl gives any of them, or the variables are of
 * another host.
 * @throws ImgctlError not-logged-in: one without the other; config: a value is unusable
 */
export function awsCredentials(settings: Settings, io: Io, url: URL) {
  const isGiven =
    settings.get('upload-access-key') !== undefined ||
    findSecret(settings, io, 'uploadSecret') !== undefined ||
    findSecret(settings, io, 'uploadSession') !== undefined;
  if (isGiven || !isAwsHost(url, io.env)) return undefined;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = io.env;
  const { AWS_SESSION_TOKEN: token } = io.env;
  // As the AWS CLI reads them.
  const regionVariable = io.env.AWS_REGION ? 'AWS_REGION' : 'AWS_DEFAULT_REGION';
  const region = io.env[regionVariable];
  if (!id && !secret) return undefined;
  if (!id || !secret) {
    const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'] as const;
    const [given, missing] = id ? names : [...names].reverse();
    const message = `${given} is set, but not ${missing}`;
    throw new ImgctlError('not-logged-in', message, { facts: 'set both, or neither' });
  }
  const read = (text: string, name: string) =>
    checkSecret(text, name, advice(`set ${name} to this value alone, on one line`));
  const isSet = settings.find('upload-region').layer !== 'default';
  return {
    accessKeyId: read(id, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: read(secret, 'AWS_SECRET_ACCESS_KEY'),
    ...(token && { sessionToken: read(token, 'AWS_SESSION_TOKEN') }),
    region:
      isSet || !region
        ? settings.get('upload-region')
        : SETTINGS['upload-region'].value.parse(region, regionVariable),
  };
}
