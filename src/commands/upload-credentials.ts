// The credentials of an upload storage: from the settings, or typed at a terminal.

import { changeProfile } from '../config/config-file.ts';
import { SECRETS, type SettingKey, variableOf } from '../config/definitions.ts';
import type { Settings } from '../config/settings.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { type Facts, hint, imgctl, setting } from '../facts.ts';
import { ask } from '../output/prompt.ts';
import { printable } from '../output/text.ts';
import { findSecret } from '../secrets/secrets.ts';

/** The setting of the user, the secret, and what each is called; never those of the service. */
export const CREDENTIALS = {
  dav: {
    user: 'upload-username',
    userName: 'user name',
    secret: 'uploadPassword',
    secretName: 'password',
  },
  s3: {
    user: 'upload-access-key',
    userName: 'access key',
    secret: 'uploadSecret',
    secretName: 'secret key',
  },
} as const;

const AWS_RULE =
  'AWS_ACCESS_KEY_ID is only for amazonaws.com and the host of AWS_ENDPOINT_URL_S3, and is ignored beside a key, secret or token of imgctl';

/** What was typed. A working user name is stored in the profile, the secret is not. */
export interface Typed {
  /** By its setting; empty if it was not typed. */
  readonly user: Readonly<Partial<Record<SettingKey, string>>>;
  /** What the secret is called, and how to store a command that prints it. */
  readonly secret?: { readonly name: string; readonly store: Facts } | undefined;
}

export interface StorageCredentials {
  readonly username: string;
  readonly password: string;
  /** With the name of a user that was typed. */
  readonly settings: Settings;
  readonly typed: Typed;
  /** The hint if the storage refuses them. */
  readonly refused: Facts;
}

/**
 * Reads the credentials, or asks for them.
 * @throws ImgctlError not-logged-in: names all that is missing
 */
export async function readCredentials(
  context: Context,
  kind: keyof typeof CREDENTIALS,
  host: string,
  mayAsk: boolean,
): Promise<StorageCredentials> {
  const { io, console, settings } = context;
  const { user, userName, secret, secretName } = CREDENTIALS[kind];
  const source = findSecret(settings, io, secret);
  const stored = settings.get(user);
  if (!mayAsk && (stored === undefined || source === undefined)) {
    throw missingCredentials(context, kind, stored, source !== undefined);
  }
  const fixes = fixesOf(kind);
  const username =
    stored ?? (await prompt(context, `upload ${userName} at ${host}`, fixes.user, false));
  const typedUser = stored === undefined ? { [user]: username } : {};
  // An invalid name is refused before the secret is typed.
  const used = settings.with(typedUser);
  const label = `upload ${secretName} for ${printable(username)} at ${host}`;
  const password = source ? await source.read() : await prompt(context, label, fixes.secret, true);
  console.redaction.add(password, username);
  const set = imgctl('config', 'set', SECRETS[secret][1], 'COMMAND');
  const typedSecret = { name: secretName, store: hint`to store a command that prints it: ${set}` };
  const typed = { user: typedUser, secret: source ? undefined : typedSecret };
  const origin = source?.origin ?? `the ${secretName}`;
  const refused =
    stored === undefined
      ? hint`check ${origin} and the ${userName}, then run the command again`
      : hint`check ${origin} and ${user}: ${setting('get', user)}`;
  return { username, password, settings: used, typed, refused };
}

/** Returns the hints that say how to set the user name and the secret. */
function fixesOf(kind: keyof typeof CREDENTIALS): { readonly user: Facts; readonly secret: Facts } {
  const { user, secret } = CREDENTIALS[kind];
  const [variable, command] = SECRETS[secret];
  const setUser = imgctl('config', 'set', user, 'NAME');
  const setSecret = imgctl('config', 'set', command, 'COMMAND');
  return {
    user: hint`set ${variableOf(user)}, or run: ${setUser}`,
    secret: hint`set ${variable} or ${variable}_FILE, or run: ${setSecret}`,
  };
}

function missingCredentials(
  { io }: Context,
  kind: keyof typeof CREDENTIALS,
  username: string | undefined,
  hasSecret: boolean,
): ImgctlError {
  const { userName, secretName } = CREDENTIALS[kind];
  const { user, secret } = fixesOf(kind);
  const missing = [
    ...(username === undefined ? [{ name: userName, fix: user }] : []),
    ...(hasSecret ? [] : [{ name: secretName, fix: secret }]),
  ];
  const names = missing.map(({ name }) => `no ${name}`).join(' and ');
  const fixes = missing.map(({ fix }) => fix).reduce((one, next) => hint`${one}; then ${next}`);
  const isForAws = kind === 's3' && io.env.AWS_ACCESS_KEY_ID;
  return new ImgctlError('not-logged-in', `${names} for the upload storage`, {
    facts: isForAws ? hint`${fixes}; ${AWS_RULE}` : fixes,
  });
}

/** Stores the name of a user that was typed. */
export async function saveUser({ io, settings, console }: Context, { user, secret }: Typed) {
  const [key] = Object.keys(user);
  if (key === undefined) return;
  const { profile } = settings;
  await changeProfile(io, profile, user);
  const but = secret ? `, but not the ${secret.name}` : '';
  console.note(`stored ${key} in the profile ${profile}${but}`, secret?.store);
}

async function prompt({ console, io }: Context, what: string, otherwise: Facts, hidden: boolean) {
  await console.flush();
  const label = what.charAt(0).toUpperCase() + what.slice(1);
  return ask(io, { what, label, otherwise, hidden });
}
