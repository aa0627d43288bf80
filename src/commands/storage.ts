// Opens the upload storage of the profile, for push and doctor.

import path from 'node:path';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { findSecret } from '../session/secrets.ts';
import { readCertificates, requireUploadTarget } from '../session/session.ts';
import type { UploadTarget } from '../session/setting-values.ts';
import type { Storage, StorageOptions, Target } from '../upload/storage.ts';

const DEFAULT_PART_SIZE = 16 * 2 ** 20;
const DEFAULT_PARALLEL = 4;

/** Returns what identifies the storage and its user, without secrets. A slash at the end of the URL makes no difference. */
export function targetKey(context: Context): string[] {
  const { settings } = context;
  const target = requireUploadTarget(context.settings);
  if (target.kind === 'file') return ['file', path.resolve(target.path)];
  const user = settings.get(target.kind === 'dav' ? 'upload-username' : 'upload-access-key');
  return [target.kind, target.url.href.replace(/\/+$/, ''), user ?? ''];
}

/**
 * Opens the storage, and looks at it with its credentials.
 * @throws ImgctlError config, not-logged-in: settings or credentials are missing or invalid
 */
export async function openUploadStorage(
  context: Context,
  options: Partial<Pick<StorageOptions, 'partSize' | 'parallel' | 'onPart'>> = {},
): Promise<Storage> {
  const { partSize = DEFAULT_PART_SIZE, parallel = DEFAULT_PARALLEL } = options;
  const { onPart = async () => {} } = options;
  const { io, settings, console } = context;
  const target = await withCredentials(context, requireUploadTarget(context.settings));
  return openStorage(target, {
    clock: io,
    timeout: settings.get('timeout'),
    retries: settings.get('retries'),
    parallel,
    partSize,
    onPart,
    ca: readCertificates(settings, io, 'upload-ca-file'),
    userAgent: context.userAgent,
    env: io.env,
    onSecret: (secret) => console.redaction.add(secret),
    onEvent: context.onEvent,
  }).catch(withSourceHint(context, target));
}

/** Loads only what that kind of storage needs. */
async function openStorage(target: Target, options: StorageOptions): Promise<Storage> {
  if (target.kind === 'dav') return (await import('../upload/dav.ts')).openDav(target, options);
  if (target.kind === 's3') return (await import('../upload/s3.ts')).openS3(target, options);
  return (await import('../upload/folder.ts')).openFolder(target.path, options.clock);
}

/** Names the source of refused credentials. */
function withSourceHint({ settings, io: { env } }: Context, { kind }: Target) {
  return (error: unknown): never => {
    const isRefusal = error instanceof ImgctlError && error.code === 'wrong-credentials';
    if (!isRefusal || kind === 'file') throw error;
    const { user, variable, flag } = { ...CREDENTIALS[kind], flag: settings.profileFlag };
    if (settings.get(user) === undefined) {
      throw error.with({ hint: `run: imgctl config set ${user} NAME${flag}` });
    }
    const source = [variable, `${variable}_FILE`].find((name) => env[name]);
    if (source === undefined) throw error;
    throw error.with({ hint: `check ${source} and ${user}: imgctl config get ${user}${flag}` });
  };
}

/** The credentials of the storage, which are never those of the service. */
const CREDENTIALS = {
  dav: {
    user: 'upload-username',
    secret: 'uploadPassword',
    variable: 'IMGCTL_UPLOAD_PASSWORD',
    setting: 'upload-password-command',
  },
  s3: {
    user: 'upload-access-key',
    secret: 'uploadSecret',
    variable: 'IMGCTL_UPLOAD_SECRET',
    setting: 'upload-secret-command',
  },
} as const;

async function withCredentials(context: Context, target: UploadTarget): Promise<Target> {
  if (target.kind === 'file') return target;
  const { settings, console } = context;
  const { kind, url } = target;
  const name = settings.get(CREDENTIALS[kind].user);
  if (kind === 'dav') {
    // Some storages need no user name.
    if (name === undefined) return { kind, url, credentials: undefined };
    const password = await readSecret(context, kind);
    console.redaction.add(password, name);
    return { kind, url, credentials: { username: name, password } };
  }
  if (name === undefined) {
    throw new ImgctlError('not-logged-in', 'no access key for the S3 storage', {
      hint: `run: imgctl config set upload-access-key KEY${settings.profileFlag}`,
    });
  }
  const secret = await readSecret(context, kind);
  console.redaction.add(secret);
  return {
    kind,
    url,
    credentials: { accessKey: name, secret, region: settings.get('upload-region') },
  };
}

async function readSecret({ settings, io }: Context, kind: 'dav' | 's3'): Promise<string> {
  const { secret, variable, setting } = CREDENTIALS[kind];
  const source = findSecret(settings, io, secret);
  if (source) return source.read();
  throw new ImgctlError('not-logged-in', 'no secret for the upload storage', {
    hint: `set ${variable} or ${variable}_FILE, or run: imgctl config set ${setting} COMMAND${settings.profileFlag}`,
  });
}
