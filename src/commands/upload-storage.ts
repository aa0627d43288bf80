// Opens the upload storage of the profile, for push and doctor.

import { realpathSync } from 'node:fs';
import path from 'node:path';
import { option, type Parsed } from '../cli/declare.ts';
import { defaultsOf } from '../cli/option-values.ts';
import { readCertificates, requireUploadTarget } from '../config/addresses.ts';
import { findPaths } from '../config/paths.ts';
import type { Settings } from '../config/settings.ts';
import { wholeNumber } from '../config/values.ts';
import { type Context, USER_AGENT } from '../context.ts';
import { hasCode, ImgctlError, tryOr } from '../errors.ts';
import { advice, type Facts, hint } from '../facts.ts';
import { keyedFile } from '../files/paths.ts';
import type { Io } from '../io.ts';
import { awsCredentials } from '../secrets/aws.ts';
import { findSecret } from '../secrets/secrets.ts';
import type { Limit } from '../upload/rate.ts';
import type { Storage, StorageOptions } from '../upload/storage.ts';
import { counted } from '../words.ts';
import {
  CREDENTIALS,
  readCredentials,
  type StorageCredentials,
  saveUser,
  type Typed,
} from './upload-credentials.ts';

const TEMPORARY = 'keys that begin with ASIA also need IMGCTL_UPLOAD_SESSION_TOKEN';

/**
 * Returns the key of the storage and its user, and its files here, undefined without a home.
 * A slash at the end of a URL makes no difference, nor does a link to a folder.
 * - `mutex`: held during a push; the names of parts are in a file beside it
 * - `proofs`: which files were equal to stored ones
 */
function storageFiles(io: Io, settings: Settings) {
  const paths = findPaths(io);
  const target = requireUploadTarget(settings);
  const isFolder = target.kind === 'file';
  const address = isFolder ? realPath(path.resolve(io.cwd, target.path)) : target.url.href;
  const user = isFolder ? undefined : settings.get(CREDENTIALS[target.kind].user);
  const key = [target.kind, address, user ?? ''];
  return {
    key,
    state: paths.state,
    mutex: paths.state && keyedFile(paths.state, 'push', key),
    proofs: paths.cache && keyedFile(paths.cache, 'uploads', key),
  };
}

export type StorageFiles = ReturnType<typeof storageFiles>;

function realPath(folder: string): string {
  return tryOr(() => realpathSync(folder), folder);
}

/** Parses `16M`, in MiB, to bytes. @throws ImgctlError usage */
function parseSize(text: string): number {
  const size = Number(/^(\d{1,4})M(?:iB)?$/i.exec(text)?.[1]);
  if (size >= 5 && size <= 1024) return size * 2 ** 20;
  const message = `--part-size must be from 5M to 1024M (got ${text})`;
  throw new ImgctlError('usage', message, { facts: 'use a size such as: --part-size 16M' });
}

export const UPLOAD_OPTIONS = [
  option('--part-size <size>', 'size of the parts on S3', {
    default: '16M',
    value: { parse: parseSize },
  }),
  option('--parallel <n>', 'parts to upload to S3 at the same time', {
    default: '4',
    value: wholeNumber(1, 32),
  }),
] as const;

interface UploadOptions extends Parsed<typeof UPLOAD_OPTIONS> {
  /** True for the one process that may use the file of the names of parts: it has the mutex. */
  readonly isPush?: boolean;
}

/**
 * Opens and checks the storage. Also returns the files that this machine has for it. A push asks on
 * a terminal for missing credentials, and stores a user name that works.
 */
export async function openUploadStorage(
  context: Context,
  options: UploadOptions = defaultsOf(UPLOAD_OPTIONS),
): Promise<{ storage: Storage; files: StorageFiles }> {
  const { io, settings, quiet } = context;
  const { layer } = settings.find('upload-url');
  const isAsked = options.isPush === true && io.stdin.isTTY && !quiet;
  const { storage, settings: used, typed } = await openTarget(context, options, isAsked);
  try {
    // What was typed for --to or a variable does not belong to the profile.
    if (typed && layer !== 'option' && layer !== 'variable') await saveUser(context, typed);
    return { storage, files: storageFiles(io, used) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

interface Opened extends Pick<StorageCredentials, 'settings'> {
  readonly storage: Storage;
  /** Undefined if no credentials were read. */
  readonly typed?: Typed;
}

async function openTarget(
  context: Context,
  options: UploadOptions,
  mayAsk: boolean,
): Promise<Opened> {
  const { io, settings } = context;
  const target = requireUploadTarget(settings);
  const { rateLimit } = await import('../upload/rate.ts');
  const limit = rateLimit(settings.get('limit-rate'), io);
  if (target.kind === 'file') {
    const { folderStorage } = await import('../upload/folder.ts');
    const folder = path.resolve(io.cwd, target.path);
    const storage = await checked(folderStorage(folder, io, limit));
    return { storage, settings };
  }
  const { kind, url } = target;
  const optionsFor: OptionsFor = (used) => optionsOf(context, used, options, limit);
  if (kind === 's3') return openS3(context, url, mayAsk, optionsFor);
  return openDav(context, url, mayAsk, optionsFor);
}

type OptionsFor = (settings: Settings) => StorageOptions;

async function openS3(
  context: Context,
  url: URL,
  mayAsk: boolean,
  optionsFor: OptionsFor,
): Promise<Opened> {
  const { s3Storage } = await import('../upload/s3.ts');
  const { io, console, settings } = context;
  const aws = awsCredentials(settings, io, url);
  if (aws) {
    console.redaction.add(aws.secretAccessKey);
    if (aws.sessionToken) console.redaction.add(aws.sessionToken);
    console.report(`using the S3 key in AWS_ACCESS_KEY_ID: ${aws.accessKeyId}`);
    const token = isTemporary(aws) ? '; keys that begin with ASIA also need AWS_SESSION_TOKEN' : '';
    const refused = advice(`check AWS_SECRET_ACCESS_KEY and AWS_ACCESS_KEY_ID${token}`);
    const storage = await checked(s3Storage(url, aws, optionsFor(settings)), refused);
    return { storage, settings };
  }
  return openWithCredentials(context, 's3', url, mayAsk, async (credentials) => {
    const { username: accessKeyId, password: secretAccessKey, refused } = credentials;
    const sessionToken = await findSecret(settings, io, 'uploadSession')?.read();
    if (sessionToken) console.redaction.add(sessionToken);
    const region = settings.get('upload-region');
    const keys = { accessKeyId, secretAccessKey, region };
    const access = sessionToken ? { ...keys, sessionToken } : keys;
    const facts = isTemporary(access) ? hint`${refused}; ${TEMPORARY}` : refused;
    return checked(s3Storage(url, access, optionsFor(credentials.settings)), facts);
  });
}

function isTemporary(access: { readonly accessKeyId: string; readonly sessionToken?: string }) {
  return access.accessKeyId.startsWith('ASIA') && !access.sessionToken;
}

async function openDav(
  context: Context,
  url: URL,
  mayAsk: boolean,
  optionsFor: OptionsFor,
): Promise<Opened> {
  const { davStorage } = await import('../upload/dav.ts');
  const { settings } = context;
  // Some WebDAV storages need no user name.
  if (settings.get('upload-username') === undefined) {
    try {
      const storage = await checked(davStorage(url, undefined, optionsFor(settings)));
      return { storage, settings };
    } catch (error) {
      if (!hasCode(error, 'wrong-credentials')) throw error;
    }
  }
  return openWithCredentials(context, 'dav', url, mayAsk, ({ settings, refused, ...user }) =>
    checked(davStorage(url, user, optionsFor(settings)), refused),
  );
}

const MAX_ATTEMPTS = 3;

/** Opens the storage; asks again for credentials that were typed and are refused. */
async function openWithCredentials(
  context: Context,
  kind: keyof typeof CREDENTIALS,
  url: URL,
  mayAsk: boolean,
  open: (credentials: StorageCredentials) => Promise<Storage>,
): Promise<Opened> {
  for (let left = MAX_ATTEMPTS - 1; ; left -= 1) {
    const credentials = await readCredentials(context, kind, url.host, mayAsk);
    const { settings, typed } = credentials;
    try {
      return { storage: await open(credentials), settings, typed };
    } catch (error) {
      const mayRetry = typed.secret !== undefined && left > 0;
      if (!mayRetry || !hasCode(error, 'wrong-credentials')) throw error;
      const { userName, secretName } = CREDENTIALS[kind];
      const names = `${userName} or ${secretName}`;
      context.console.warn(`the storage refused the ${names} (${counted(left, 'attempt')} left)`);
    }
  }
}

function optionsOf(
  context: Context,
  settings: Settings,
  { isPush, ...options }: UploadOptions,
  limit: Limit,
): StorageOptions {
  const { io, console } = context;
  const { mutex } = storageFiles(io, settings);
  return {
    clock: io,
    timeout: settings.get('timeout'),
    retries: settings.get('retries'),
    ...options,
    limit,
    // A push that starts removes the parts that are named there.
    partsFile: isPush && mutex ? `${mutex}.parts` : undefined,
    ca: readCertificates(settings, io, 'upload-ca-file'),
    userAgent: USER_AGENT,
    env: io.env,
    onWarning: (text: string) => console.warn(text),
    onSecret: (secret: string) => console.redaction.add(secret),
    redact: console.redaction.apply,
    onEvent: context.onEvent,
  };
}

/** @param refused is the hint for refused credentials */
async function checked(storage: Storage, refused?: string | Facts): Promise<Storage> {
  try {
    await storage.check();
    return storage;
  } catch (error) {
    await storage.close();
    if (!hasCode(error, 'wrong-credentials')) throw error;
    throw error.with({ facts: refused ?? error.facts });
  }
}
