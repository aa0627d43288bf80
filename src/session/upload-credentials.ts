// The credentials of the upload storage, which are never those of the service.

import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { passwordOfCommand, passwordOfFile } from './password.ts';
import type { Settings } from './settings.ts';

interface SecretNames {
  readonly variable: string;
  /** What a file with it is, for messages. */
  readonly file: string;
  readonly command: 'upload-password-command' | 'upload-secret-command';
}

const PASSWORD: SecretNames = {
  variable: 'IMGCTL_UPLOAD_PASSWORD',
  file: 'upload password file',
  command: 'upload-password-command',
};
const SECRET: SecretNames = {
  variable: 'IMGCTL_UPLOAD_SECRET',
  file: 'upload secret file',
  command: 'upload-secret-command',
};

/** Returns the variable that has the password or secret of the storage, if one is set. */
export function uploadVariable({ env }: Io, kind: 'dav' | 's3'): string | undefined {
  const { variable } = kind === 'dav' ? PASSWORD : SECRET;
  return [variable, `${variable}_FILE`].find((name) => env[name]);
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
  if (username === undefined) return undefined;
  return { username, password: await readSecret(settings, io, PASSWORD) };
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
  const secret = await readSecret(settings, io, SECRET);
  return { accessKey, secret, region: settings.get('upload-region') ?? '' };
}

async function readSecret(
  settings: Settings,
  io: Io,
  { variable, file: what, command: setting }: SecretNames,
): Promise<string> {
  const value = io.env[variable];
  const file = io.env[`${variable}_FILE`];
  if (value) return value;
  if (file) return passwordOfFile(file, io, { variable: `${variable}_FILE`, what });
  const command = settings.get(setting);
  if (command) return passwordOfCommand(command, io, { setting });
  throw new ImgctlError('not-logged-in', 'no secret for the upload storage', {
    hint: `set ${variable} or ${variable}_FILE, or run: imgctl config set ${setting} COMMAND${settings.profileFlag}`,
  });
}
