// Credential helpers: programs that store a password and speak docker's protocol, on stdin and stdout.

import path from 'node:path';
import { ImgctlError } from '../errors.ts';
import type { Io } from '../io.ts';
import { isObject } from '../json.ts';
import { type ChildResult, runChild } from './child.ts';
import { type PasswordStore, passwordFlaw } from './password.ts';
import type { Account } from './token-store.ts';

/** The text that docker's own helpers print if they have nothing for the server. */
const NOT_FOUND = 'credentials not found';
const MAX_REASON = 200;

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Returns the program of a helper: `docker-credential-NAME`, or the path itself. */
export function helperProgram(helper: string): string {
  return /[\\/]/.test(helper) ? helper : `docker-credential-${helper}`;
}

/**
 * Opens a helper, which stores one user per base URL. Every function may throw ImgctlError config.
 * @param limit milliseconds for each call
 */
export function openHelper(io: Io, helper: string, limit?: number): PasswordStore {
  const command = helperProgram(helper);
  const name = path.basename(command);

  async function call(action: string, input: string, secret?: string): Promise<ChildResult> {
    const result = await runChild(io, {
      command,
      args: [action],
      input,
      stderr: 'pipe',
      ...(limit === undefined ? {} : { limit }),
    });
    if (result.failure === undefined || isNotFound(result)) return result;
    throw cannotUse(`${name} ${action}`, result, secret);
  }

  async function get(account: Account): Promise<Credentials | undefined> {
    const result = await call('get', account.baseUrl);
    return isNotFound(result) ? undefined : readCredentials(result.stdout, name);
  }

  return {
    async check(account) {
      await get(account);
    },
    async lookup({ username, ...account }) {
      const found = await get({ username, ...account });
      if (found === undefined || found.username === username) return found?.password;
      throw new ImgctlError('config', `${name} has the password of another user for this service`, {
        hint: `replace it: imgctl login --username ${username} --store-password`,
      });
    },
    async store(account, password) {
      const { baseUrl, username } = account;
      // A helper such as pass would store a second user beside the first.
      if (await get(account)) await call('erase', baseUrl);
      const record = { ServerURL: baseUrl, Username: username, Secret: password };
      await call('store', JSON.stringify(record), password);
      const stored = await get(account);
      if (stored?.username === username && stored.password === password) return;
      throw new ImgctlError('config', `${name} did not store the password`, {
        hint: `check it with: ${command} list`,
      });
    },
    async forget(account) {
      const found = await get(account);
      if (found?.username !== account.username) return false;
      await call('erase', account.baseUrl);
      return true;
    },
  };
}

function isNotFound({ failure, stdout }: ChildResult): boolean {
  return failure !== undefined && stdout.includes(NOT_FOUND);
}

function readCredentials(stdout: string, name: string): Credentials | undefined {
  const { Username: username, Secret: password } = parseObject(stdout);
  if (typeof username !== 'string' || typeof password !== 'string') {
    // The output may hold the password, so it is not shown.
    throw new ImgctlError('config', `${name} get printed no user name and secret in JSON`, {
      hint: 'use a helper that speaks the protocol of docker-credential-helpers',
    });
  }
  // docker-credential-pass 0.6 prints this for a server that it does not know.
  if (username === '' && password === '') return undefined;
  const flaw = passwordFlaw(password);
  if (flaw === undefined) return { username, password };
  throw new ImgctlError('config', `${name} gave ${flaw}`, {
    hint: 'store the password again: imgctl login --store-password',
  });
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function cannotUse(what: string, result: ChildResult, secret: string | undefined): ImgctlError {
  const { failure, stdout, stderr, cause } = result;
  const [program] = what.split(' ');
  const { code } = (cause ?? {}) as NodeJS.ErrnoException;
  if (code === 'ENOENT') {
    return new ImgctlError('config', `the credential helper ${program} is not installed`, {
      hint: 'install it, or use another one: imgctl config set credential-helper NAME',
      cause,
    });
  }
  // Helpers report errors on stdout. JSON there may be credentials.
  const [reason = ''] = (stdout.trim() || stderr.trim()).split('\n');
  const isQuotable = reason !== '' && !reason.includes('{') && !(secret && reason.includes(secret));
  const said = isQuotable ? `: ${reason.slice(0, MAX_REASON)}` : '';
  return new ImgctlError('config', `${what} ${failure}${said}`, {
    hint: `check it with: ${program} list`,
    cause,
  });
}
