// Opens the shared store of the setting token-store, with its password and key.

import { asImgctlError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { passwordOfCommand, passwordOfFile } from '../password.ts';
import type { StoreAddress } from '../setting-values.ts';
import type { Settings } from '../settings.ts';
import type { TokenCache } from '../token-cache.ts';
import type { Account } from '../token-store.ts';
import { StoreError } from '../token-store.ts';
import { connectStore, type StoreConnection } from './redis.ts';
import { type Seal, sealWith } from './seal.ts';
import { SharedStore } from './shared-store.ts';

const KEY_FILE = { variable: 'IMGCTL_TOKEN_STORE_KEY_FILE', what: 'key file' };
const PASSWORD_FILE = { variable: 'IMGCTL_TOKEN_STORE_PASSWORD_FILE', what: 'password file' };

interface StoreOptions {
  readonly address: StoreAddress;
  readonly settings: Settings;
  readonly account: Account;
  readonly files: TokenCache;
  readonly io: Io;
  readonly ca: string | undefined;
  readonly warn: (message: string, hint?: string) => void;
  readonly onSecret: (secret: string) => void;
}

/** @throws ImgctlError config: an invalid key */
export async function openSharedStore(options: StoreOptions): Promise<SharedStore> {
  const { address, account, files, io, warn } = options;
  return new SharedStore({
    account,
    address: address.text,
    files,
    io,
    warn,
    seal: await readSeal(options),
    connect: () => openConnection(options),
  });
}

/** @throws ImgctlError config: not a key, or its file is unreadable */
async function readSeal({ io, onSecret }: StoreOptions): Promise<Seal | undefined> {
  const { IMGCTL_TOKEN_STORE_KEY: value, IMGCTL_TOKEN_STORE_KEY_FILE: file } = io.env;
  if (!value && !file) return undefined;
  const key = value ? value : await passwordOfFile(file ?? '', io, KEY_FILE);
  onSecret(key);
  return sealWith(key, value ? 'IMGCTL_TOKEN_STORE_KEY' : 'IMGCTL_TOKEN_STORE_KEY_FILE');
}

/** @throws StoreError, also if there is no password: a store never stops a command */
async function openConnection(options: StoreOptions): Promise<StoreConnection> {
  const { address, io, ca, onSecret } = options;
  const password = await readPassword(options).catch((error: unknown) => {
    io.signal.throwIfAborted();
    const { message, hint } = asImgctlError(error);
    throw new StoreError(message, hint);
  });
  if (password !== undefined) onSecret(password);
  return connectStore({ address, password, ca, io });
}

async function readPassword({ io, settings }: StoreOptions): Promise<string | undefined> {
  const { IMGCTL_TOKEN_STORE_PASSWORD: value, IMGCTL_TOKEN_STORE_PASSWORD_FILE: file } = io.env;
  if (value) return value;
  if (file) return passwordOfFile(file, io, PASSWORD_FILE);
  const command = settings.text('token-store-password-command');
  return command === undefined
    ? undefined
    : passwordOfCommand(command, io, { setting: 'token-store-password-command' });
}
