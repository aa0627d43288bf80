// Opens the upload storage of the profile, for push and doctor.

import path from 'node:path';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { keyedFile } from '../files/paths.ts';
import { findSecret, SECRETS } from '../session/secrets.ts';
import { readCertificates, requireUploadTarget } from '../session/session.ts';
import type { Storage } from '../upload/storage.ts';

/** The credentials of the storage, which are never those of the service. */
const CREDENTIALS = {
  dav: { user: 'upload-username', secret: 'uploadPassword' },
  s3: { user: 'upload-access-key', secret: 'uploadSecret' },
} as const;

/**
 * Returns the file that belongs to the storage and its user, for a lock and the names of parts; undefined without a
 * state folder. A slash at the end of the URL makes no difference.
 */
export function storageFile({ settings, paths }: Context): string | undefined {
  const target = requireUploadTarget(settings);
  const isFolder = target.kind === 'file';
  const address = isFolder ? path.resolve(target.path) : target.url.href.replace(/\/+$/, '');
  const user = isFolder ? undefined : settings.get(CREDENTIALS[target.kind].user);
  return paths.state && keyedFile(paths.state, 'push', [target.kind, address, user ?? '']);
}

/**
 * Opens the storage, and looks at it with its credentials.
 * @throws ImgctlError config, not-logged-in: settings or credentials are missing or invalid
 */
export async function openUploadStorage(
  context: Context,
  partSize = 16 * 2 ** 20,
  parallel = 4,
): Promise<Storage> {
  const { io, settings, console } = context;
  const target = requireUploadTarget(settings);
  if (target.kind === 'file') {
    const { folderStorage } = await import('../upload/folder.ts');
    return checked(folderStorage(target.path, io));
  }
  const { kind, url } = target;
  const { user, secret } = CREDENTIALS[kind];
  const file = storageFile(context);
  const options = {
    clock: io,
    timeout: settings.get('timeout'),
    retries: settings.get('retries'),
    parallel,
    partSize,
    partsFile: file && `${file}.parts`,
    ca: readCertificates(settings, io, 'upload-ca-file'),
    userAgent: context.userAgent,
    env: io.env,
    onSecret: (secret: string) => console.redaction.add(secret),
    onEvent: context.onEvent,
  };
  const { davStorage } = await import('../upload/dav.ts');
  const username = settings.get(user);
  const set = `run: imgctl config set ${user}`;
  const flag = settings.profileFlag;
  // Some storages need no user name.
  if (kind === 'dav' && username === undefined)
    return checked(davStorage(url, undefined, options), `${set} NAME${flag}`);
  if (username === undefined) {
    throw new ImgctlError('not-logged-in', 'no access key for the S3 storage', {
      hint: `${set} KEY${flag}`,
    });
  }
  const source = findSecret(settings, io, secret);
  if (!source) {
    const { variable, command } = SECRETS[secret];
    throw new ImgctlError('not-logged-in', 'no secret for the upload storage', {
      hint: `set ${variable} or ${variable}_FILE, or run: imgctl config set ${command} COMMAND${flag}`,
    });
  }
  const password = await source.read();
  console.redaction.add(password, username);
  const hint = `check ${source.origin} and ${user}: imgctl config get ${user}${flag}`;
  if (kind === 'dav') return checked(davStorage(url, { username, password }, options), hint);
  const region = settings.get('upload-region');
  const { s3Storage } = await import('../upload/s3.ts');
  const credentials = { accessKeyId: username, secretAccessKey: password, region };
  return checked(s3Storage(url, credentials, options), hint);
}

/** @param hint for refused credentials */
async function checked(storage: Storage, hint?: string): Promise<Storage> {
  try {
    await storage.check();
    return storage;
  } catch (error) {
    await storage.close();
    const isRefusal = error instanceof ImgctlError && error.code === 'wrong-credentials';
    throw isRefusal ? error.with({ hint: hint ?? error.hint }) : error;
  }
}
