// Opens the upload storage of the profile, for push and doctor.

import { realpathSync } from 'node:fs';
import path from 'node:path';
import { option, type Parsed } from '../cli/command.ts';
import { defaultsOf } from '../cli/declarations.ts';
import { readCertificates, requireUploadTarget } from '../config/addresses.ts';
import { changeProfile } from '../config/config-file.ts';
import { SECRETS, type SettingKey, variableOf } from '../config/definitions.ts';
import { findPaths } from '../config/paths.ts';
import { type Settings, storedText } from '../config/settings.ts';
import { wholeNumber } from '../config/values.ts';
import { type Context, USER_AGENT } from '../context.ts';
import { hasCode, ImgctlError, tryOr } from '../errors.ts';
import { type Facts, hint, imgctl, setting } from '../facts.ts';
import { keyedFile } from '../files/paths.ts';
import type { Io } from '../io.ts';
import { ask } from '../output/prompt.ts';
import { printable } from '../output/text.ts';
import { awsCredentials } from '../secrets/aws.ts';
import { findSecret } from '../secrets/secrets.ts';
import type { Limit } from '../upload/rate.ts';
import type { Storage, StorageOptions } from '../upload/storage.ts';
import { counted } from '../words.ts';

/** The setting and name of the user, and the name of the secret; never those of the service. */
const CREDENTIALS = {
  dav: ['upload-username', 'user name', 'uploadPassword', 'password'],
  s3: ['upload-access-key', 'access key', 'uploadSecret', 'secret key'],
} as const;

const AWS_HOSTS = 'AWS_ACCESS_KEY_ID is only for amazonaws.com and the host of AWS_ENDPOINT_URL_S3';
const TEMPORARY = 'keys that begin with ASIA also need IMGCTL_UPLOAD_SESSION_TOKEN';

/**
 * Returns what names the storage and its user on this machine, and its files there, undefined without a home directory.
 * A slash at the end of a URL makes no difference, nor does a link to a folder.
 * - `mutex`: held during a push; the names of parts are in a file beside it
 * - `proofs`: which files were equal to stored ones
 */
function storageFiles(io: Io, settings: Settings) {
  const paths = findPaths(io);
  const target = requireUploadTarget(settings);
  const isFolder = target.kind === 'file';
  const address = isFolder ? realPath(path.resolve(io.cwd, target.path)) : target.url.href;
  const user = isFolder ? undefined : settings.get(CREDENTIALS[target.kind][0]);
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
    value: { type: 'string', parse: parseSize },
  }),
  option('--parallel <n>', 'parts to upload to S3 at the same time', {
    default: '4',
    value: wholeNumber(1, 32),
  }),
] as const;

type UploadOptions = Parsed<typeof UPLOAD_OPTIONS>;

/**
 * Opens the storage, and looks at it with its credentials. Also returns the files that this machine has for it.
 * @param mayAsk asks on a terminal for credentials that are not set, and stores the user name if they work
 */
export async function openUploadStorage(
  context: Context,
  options: UploadOptions = defaultsOf(UPLOAD_OPTIONS),
  mayAsk = false,
): Promise<{ storage: Storage; files: StorageFiles }> {
  const { layer } = context.settings.find('upload-url');
  const answers: Answers = {
    mayAsk: mayAsk && context.io.stdin.isTTY && !context.quiet,
    values: new Map(),
    settings: context.settings,
  };
  const storage = await openWithAnswers(context, options, answers);
  try {
    // Answers for --to or a variable do not belong to the profile.
    if (layer !== 'option' && layer !== 'variable') await saveAnswers(context, answers);
    return { storage, files: storageFiles(context.io, answers.settings) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

interface Answers {
  readonly mayAsk: boolean;
  readonly values: Map<SettingKey, string>;
  /** With the answers so far. */
  settings: Settings;
  /** Its name, and how to store a command that prints it. */
  secret?: { readonly name: string; readonly names: string; readonly hint: Facts };
}

const MAX_ATTEMPTS = 3;

async function openWithAnswers(context: Context, options: UploadOptions, answers: Answers) {
  for (let left = MAX_ATTEMPTS - 1; ; left -= 1) {
    try {
      return await openTarget(context, options, answers);
    } catch (error) {
      const isTyped = answers.secret !== undefined && hasCode(error, 'wrong-credentials');
      if (!isTyped || left === 0) throw error;
      const { names } = answers.secret ?? { names: '' };
      context.console.warn(`the storage refused the ${names} (${counted(left, 'attempt')} left)`);
      // A user name that was typed may be wrong too.
      answers.values.clear();
      answers.settings = context.settings;
    }
  }
}

async function openTarget(context: Context, options: UploadOptions, answers: Answers) {
  const { io } = context;
  const { settings } = answers;
  const target = requireUploadTarget(settings);
  const { rateLimit } = await import('../upload/rate.ts');
  const limit = rateLimit(settings.get('limit-rate'), io);
  if (target.kind === 'file') {
    const { folderStorage } = await import('../upload/folder.ts');
    return checked(folderStorage(path.resolve(io.cwd, target.path), io, limit));
  }
  const storageOptions = () => optionsOf(context, answers.settings, options, limit);
  const { kind, url } = target;
  if (kind === 's3') {
    const { s3Storage } = await import('../upload/s3.ts');
    const { refused, ...access } = await readKeys(context, url, answers);
    return checked(s3Storage(url, access, storageOptions()), refused);
  }
  const { davStorage } = await import('../upload/dav.ts');
  const open = async () => {
    const user = await readCredentials(context, kind, url.host, answers);
    return checked(davStorage(url, user, storageOptions()), user.refused);
  };
  // Some WebDAV storages need no user name.
  if (settings.get('upload-username') !== undefined) return open();
  const anonymous = davStorage(url, undefined, storageOptions());
  return checked(anonymous).catch((error: unknown) => {
    if (!hasCode(error, 'wrong-credentials')) throw error;
    return open();
  });
}

function optionsOf(
  context: Context,
  settings: Settings,
  options: UploadOptions,
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
    partsFile: mutex && `${mutex}.parts`,
    ca: readCertificates(settings, io, 'upload-ca-file'),
    userAgent: USER_AGENT,
    env: io.env,
    onWarning: (text: string) => console.warn(text),
    onSecret: (secret: string) => console.redaction.add(secret),
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

/** Reads the keys of an S3 storage, or asks for them; also returns the hint if they are refused. */
async function readKeys(context: Context, url: URL, answers: Answers) {
  const { io, console } = context;
  const { settings } = answers;
  const aws = awsCredentials(settings, io, url);
  if (aws) {
    console.redaction.add(aws.secretAccessKey);
    if (aws.sessionToken) console.redaction.add(aws.sessionToken);
    console.report(`using the S3 key in AWS_ACCESS_KEY_ID: ${aws.accessKeyId}`);
    const token = isTemporary(aws) ? '; keys that begin with ASIA also need AWS_SESSION_TOKEN' : '';
    return { ...aws, refused: `check AWS_SECRET_ACCESS_KEY and AWS_ACCESS_KEY_ID${token}` };
  }
  const { username, password, refused } = await readCredentials(context, 's3', url.host, answers);
  const sessionToken = await findSecret(settings, io, 'uploadSession')?.read();
  if (sessionToken) console.redaction.add(sessionToken);
  const keys = { accessKeyId: username, secretAccessKey: password };
  const access = {
    ...keys,
    ...(sessionToken && { sessionToken }),
    region: settings.get('upload-region'),
  };
  return { ...access, refused: isTemporary(access) ? hint`${refused}; ${TEMPORARY}` : refused };
}

function isTemporary(access: { readonly accessKeyId: string; readonly sessionToken?: string }) {
  return access.accessKeyId.startsWith('ASIA') && !access.sessionToken;
}

/** Reads the credentials, or asks for them. @throws ImgctlError not-logged-in: names all that is missing */
async function readCredentials(
  context: Context,
  kind: keyof typeof CREDENTIALS,
  host: string,
  answers: Answers,
) {
  const { io, console } = context;
  const { settings } = answers;
  const [user, userName, secret, secretName] = CREDENTIALS[kind];
  const [variable, , command] = SECRETS[secret];
  const storeSecret = imgctl('config', 'set', command, 'COMMAND');
  const source = findSecret(settings, io, secret);
  let username = settings.get(user);
  if (!answers.mayAsk && !(username && source)) {
    const isGiven = [
      [
        userName,
        username,
        hint`set ${variableOf(user)}, or run: ${imgctl('config', 'set', user, 'NAME')}`,
      ],
      [secretName, source, hint`set ${variable} or ${variable}_FILE, or run: ${storeSecret}`],
    ] as const;
    const missing = isGiven.filter(([, given]) => !given);
    const what = missing.map(([name]) => `no ${name}`).join(' and ');
    const joined = missing
      .map(([, , fix]) => fix)
      .reduce((one, next) => hint`${one}; then ${next}`);
    throw new ImgctlError('not-logged-in', `${what} for the upload storage`, {
      facts: hint`${joined}${kind === 's3' && io.env.AWS_ACCESS_KEY_ID ? `; ${AWS_HOSTS}` : ''}`,
    });
  }
  const isStored = username !== undefined && !answers.values.has(user);
  username ??= await askFor(context, answers, user, `upload ${userName} at ${host}`);
  const label = `upload ${secretName} for ${printable(username)} at ${host}`;
  const password = source
    ? await source.read()
    : await typed(context, label, hint`provide it with ${variable} or the setting ${command}`);
  const store = hint`to store a command that prints it: ${storeSecret}`;
  const names = `${userName} or ${secretName}`;
  if (!source) answers.secret = { name: secretName, names, hint: store };
  console.redaction.add(password, username);
  const origin = source?.origin ?? `the ${secretName}`;
  const refused = isStored
    ? hint`check ${origin} and ${user}: ${setting('get', user)}`
    : hint`check ${origin} and the ${userName}, then run the command again`;
  return { username, password, refused };
}

async function askFor(context: Context, answers: Answers, key: SettingKey, label: string) {
  const text = await typed(
    context,
    label,
    hint`provide it with ${imgctl('config', 'set', key)}`,
    false,
  );
  answers.settings = answers.settings.with({ [key]: text });
  answers.values.set(key, text);
  return text;
}

async function saveAnswers(
  { io, console }: Context,
  { values, settings, secret }: Answers,
): Promise<void> {
  if (values.size === 0) return;
  const { profile } = settings;
  const changes = [...values].map(([key, text]) => [key, storedText(settings, key, text, io.cwd)]);
  await changeProfile(io, profile, Object.fromEntries(changes));
  const but = secret ? `, but not the ${secret.name}` : '';
  const stored = [...values.keys()].join(' and ');
  console.note(`stored ${stored} in the profile ${profile}${but}`, secret?.hint);
}

async function typed({ console, io }: Context, what: string, otherwise: Facts, hidden = true) {
  await console.flush();
  const label = what.charAt(0).toUpperCase() + what.slice(1);
  return ask(io, { what, label, otherwise, hidden });
}
