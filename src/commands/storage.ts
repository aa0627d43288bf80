// Opens the upload storage of the profile, for push and doctor.

import path from 'node:path';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { readCertificates } from '../session/session.ts';
import { parseUploadUrl, type UploadTarget } from '../session/upload-settings.ts';
import type { Storage, StorageOptions, Target } from '../upload/storage.ts';

const DEFAULT_PART_SIZE = 16 * 2 ** 20;
const DEFAULT_PARALLEL = 4;

/** @throws ImgctlError config: no upload-url, or invalid */
function readTarget({ settings }: Context): UploadTarget {
  const flag = settings.profileFlag;
  const text = settings.get('upload-url');
  if (text !== undefined) {
    const allowing = `imgctl config set allow-http true${flag}`;
    return parseUploadUrl(text, settings.get('allow-http'), allowing);
  }
  throw new ImgctlError('config', 'no upload storage configured', {
    hint: `run: imgctl config set upload-url dav+https://host/path${flag} (or s3+https://, file://)`,
  });
}

/** Returns what identifies the storage and its user, without secrets. A slash at the end of the URL makes no difference. */
export function targetKey(context: Context): string[] {
  const { settings } = context;
  const target = readTarget(context);
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
  const target = await withCredentials(context, readTarget(context));
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
  }).catch(withRemedy(context, target));
}

/** Loads only what that kind of storage needs. */
async function openStorage(target: Target, options: StorageOptions): Promise<Storage> {
  if (target.kind === 'dav') return (await import('../upload/dav.ts')).openDav(target, options);
  if (target.kind === 's3') return (await import('../upload/s3.ts')).openS3(target, options);
  return (await import('../upload/folder.ts')).openFolder(target.path, options.clock);
}

/** Names the source of refused credentials. */
function withRemedy({ settings, io }: Context, { kind }: Target) {
  return async (error: unknown): Promise<never> => {
    const isRefusal = error instanceof ImgctlError && error.code === 'wrong-credentials';
    if (!isRefusal || kind === 'file') throw error;
    const { uploadVariable } = await import('../session/upload-credentials.ts');
    const user = kind === 'dav' ? 'upload-username' : 'upload-access-key';
    const variable = uploadVariable(io, kind);
    const flag = settings.profileFlag;
    if (settings.get(user) === undefined) {
      throw error.with({ hint: `run: imgctl config set ${user} NAME${flag}` });
    }
    if (variable === undefined) throw error;
    throw error.with({ hint: `check ${variable} and ${user}: imgctl config get ${user}${flag}` });
  };
}

async function withCredentials(context: Context, target: UploadTarget): Promise<Target> {
  const { settings, io, console } = context;
  const { davCredentials, s3Credentials } = await import('../session/upload-credentials.ts');
  switch (target.kind) {
    case 'file':
      return target;
    case 'dav': {
      const credentials = await davCredentials(settings, io);
      if (credentials) console.redaction.add(credentials.password, credentials.username);
      return { kind: 'dav', url: target.url, credentials };
    }
    case 's3': {
      const credentials = await s3Credentials(settings, io);
      console.redaction.add(credentials.secret);
      return { kind: 's3', url: target.url, credentials };
    }
  }
}
