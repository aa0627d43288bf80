// The S3 credentials in the variables of AWS programs, for the hosts of these programs only.

import { SETTINGS } from '../config/definitions.ts';
import type { Settings } from '../config/settings.ts';
import { ImgctlError, tryOr } from '../errors.ts';
import { advice } from '../facts.ts';
import type { Io } from '../io.ts';
import { checkSecret, findSecret } from './secrets.ts';

const OWN_HOSTS = /(?:^|\.)amazonaws\.com(?:\.cn)?$/;

/** Returns the variables that belong together, for the host of a URL. */
function variablesFor({ host, hostname }: URL, { env }: Pick<Io, 'env'>) {
  const { AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL } = env;
  const endpoints = [AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL].map((url) =>
    tryOr(() => new URL(url ?? '').host, undefined),
  );
  return OWN_HOSTS.test(hostname) || endpoints.includes(host) ? env : undefined;
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
  const variables = isGiven ? undefined : variablesFor(url, io);
  if (variables === undefined) return undefined;
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = variables;
  const { AWS_SESSION_TOKEN: token } = variables;
  // As the AWS CLI reads them.
  const regionVariable = variables.AWS_REGION ? 'AWS_REGION' : 'AWS_DEFAULT_REGION';
  const region = variables[regionVariable];
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
  const own = isSet || !region ? undefined : region;
  return {
    accessKeyId: read(id, 'AWS_ACCESS_KEY_ID'),
    secretAccessKey: read(secret, 'AWS_SECRET_ACCESS_KEY'),
    ...(token && { sessionToken: read(token, 'AWS_SESSION_TOKEN') }),
    region: own
      ? SETTINGS['upload-region'].value.parse(own, regionVariable)
      : settings.get('upload-region'),
  };
}
