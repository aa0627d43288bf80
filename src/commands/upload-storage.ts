// Opens the upload storage of the profile, for push and doctor.

import path from 'node:path';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { keyedFile } from '../files/paths.ts';
import { findSecret, SECRETS } from '../session/secrets.ts';
import { readCertificates, requireUploadTarget } from '../session/session.ts';
import type { Storage, StorageOptions } from '../upload/storage.ts';

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
  const file = storageFile(context);
  const storage = await createStorage(context, {
    clock: io,
    timeout: settings.get('timeout'),
    retries: settings.get('retries'),
    parallel,
    partSize,
    partsFile: file && `${file}.parts`,
    ca: readCertificates(settings, io, 'upload-ca-file'),
    userAgent: context.userAgent,
    env: io.env,
    onSecret: (secret) => console.redaction.add(secret),
    onEvent: context.onEvent,
  });
  try {
    await storage.check();
    return storage;
  } catch (error) {
    await storage.close();
    throw withSourceHint(context, error);
  }
}

/** Names the source of refused credentials. */
function withSourceHint({ settings, io: { env } }: Context, error: unknown): unknown {
  const { kind } = requireUploadTarget(settings);
  const isRefusal = error instanceof ImgctlError && error.code === 'wrong-credentials';
  if (!isRefusal || kind === 'file') return error;
  const { user, secret } = CREDENTIALS[kind];
  const { variable } = SECRETS[secret];
  const flag = settings.profileFlag;
  if (settings.get(user) === undefined)
    return error.with({ hint: `run: imgctl config set ${user} NAME${flag}` });
  const source = [variable, `${variable}_FILE`].find((name) => env[name]);
  if (source === undefined) return error;
  return error.with({ hint: `check ${source} and ${user}: imgctl config get ${user}${flag}` });
}

/** Reads the credentials, and creates the storage with them. */
async function createStorage(context: Context, options: StorageOptions): Promise<Storage> {
  const { settings, console, io } = context;
  const target = requireUploadTarget(settings);
  if (target.kind === 'file')
    return (await import('../upload/folder.ts')).folderStorage(target.path, options.clock);
  const { kind, url } = target;
  const { user, secret } = CREDENTIALS[kind];
  const username = settings.get(user);
  const { davStorage } = await import('../upload/dav.ts');
  // Some storages need no user name.
  if (kind === 'dav' && username === undefined) return davStorage(url, undefined, options);
  if (username === undefined) {
    throw new ImgctlError('not-logged-in', 'no access key for the S3 storage', {
      hint: `run: imgctl config set ${user} KEY${settings.profileFlag}`,
    });
  }
  const source = findSecret(settings, io, secret);
  if (!source) {
    const { variable, command } = SECRETS[secret];
    throw new ImgctlError('not-logged-in', 'no secret for the upload storage', {
      hint: `set ${variable} or ${variable}_FILE, or run: imgctl config set ${command} COMMAND${settings.profileFlag}`,
    });
  }
  const password = await source.read();
  console.redaction.add(password, username);
  if (kind === 'dav') return davStorage(url, { username, password }, options);
  const credentials = {
    accessKeyId: username,
    secretAccessKey: password,
    region: settings.get('upload-region'),
  };
  return (await import('../upload/s3.ts')).s3Storage(url, credentials, options);
}
