// The credentials of the upload storage, which are never those of the service.

import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { findSecret } from './secrets.ts';
import type { Settings } from './settings.ts';

const VARIABLES = { dav: 'IMGCTL_UPLOAD_PASSWORD', s3: 'IMGCTL_UPLOAD_SECRET' } as const;

/** Returns the variable that has the password or secret of the storage, if one is set. */
export function uploadVariable({ env }: Io, kind: 'dav' | 's3'): string | undefined {
  return [VARIABLES[kind], `${VARIABLES[kind]}_FILE`].find((name) => env[name]);
}

interface DavCredentials {
  readonly username: string;
  readonly password: string;
}

/** Returns undefined without a user name, for a storage that needs none. @throws ImgctlError */
export async function davCredentials(
  settings: Settings,
  io: Io,
): Promise<DavCredentials | undefined> {
  const username = settings.get('upload-username');
  return username === undefined
    ? undefined
    : { username, password: await readSecret(settings, io, 'dav') };
}

interface S3Credentials {
  readonly accessKey: string;
  readonly secret: string;
  readonly region: string;
}

/** @throws ImgctlError */
export async function s3Credentials(settings: Settings, io: Io): Promise<S3Credentials> {
  const accessKey = settings.get('upload-access-key');
  if (accessKey === undefined) {
    throw new ImgctlError('not-logged-in', 'no access key for the S3 storage', {
      hint: `run: imgctl config set upload-access-key KEY${settings.profileFlag}`,
    });
  }
  const secret = await readSecret(settings, io, 's3');
  return { accessKey, secret, region: settings.get('upload-region') ?? '' };
}

async function readSecret(settings: Settings, io: Io, kind: 'dav' | 's3'): Promise<string> {
  const source = findSecret(settings, io, kind === 'dav' ? 'uploadPassword' : 'uploadSecret');
  if (source) return source.read();
  const variable = VARIABLES[kind];
  const setting = kind === 'dav' ? 'upload-password-command' : 'upload-secret-command';
  throw new ImgctlError('not-logged-in', 'no secret for the upload storage', {
    hint: `set ${variable} or ${variable}_FILE, or run: imgctl config set ${setting} COMMAND${settings.profileFlag}`,
  });
}
