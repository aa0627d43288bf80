// Checks the shared token store and the credential helper.

import fs from 'node:fs';
import path from 'node:path';
import type { Context } from '../../context.ts';
import { describeDuration } from '../../duration.ts';
import { ImgctlError, valueOr, valueOrError } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { helperProgram } from '../../session/credential-helper.ts';
import type { Settings } from '../../session/settings.ts';
import type { SharedStore, StoreFacts } from '../../session/shared/shared-store.ts';
import { StoreError } from '../../session/token-store.ts';
import { openSharedStore } from '../token-state.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Tokens do not depend on the clocks, but a wrong clock breaks certificates and logs. */
const MAX_CLOCK_DIFFERENCE = 30_000;

/** Checks the store, and takes its token over, as the next command would. Returns nothing for `file`. */
export async function storeFindings(context: Context, settings: Settings): Promise<Finding[]> {
  const address = valueOr(() => settings.text('token-store'), 'file') ?? 'file';
  if (address === 'file') return [];
  let store: SharedStore | undefined;
  try {
    store = await openSharedStore(context, settings);
    if (store === undefined) return [];
    const facts = await store.inspect();
    await store.read();
    return [describe(address, facts)];
  } catch (error) {
    if (error instanceof ImgctlError) return [failed('token store', error)];
    if (!(error instanceof StoreError)) throw error;
    const { message, hint = remedyFor(message, settings) } = error;
    return [warning('token store', `cannot use ${address}: ${message}`, hint)];
  } finally {
    await store?.close();
  }
}

function remedyFor(reason: string, { profileFlag }: Settings): string {
  if (/SELF_SIGNED|UNABLE_TO/.test(reason)) return `imgctl config set ca-file FILE${profileFlag}`;
  return 'check its address, password, permissions and certificate; see: imgctl help fleet';
}

function describe(address: string, { milliseconds, ahead, isSealed }: StoreFacts): Finding {
  const sealed = isSealed ? 'tokens are sealed' : 'tokens are not sealed';
  const finding = `${address}: reachable in ${Math.round(milliseconds)} ms, ${sealed}`;
  if (Math.abs(ahead) <= MAX_CLOCK_DIFFERENCE) return ok('token store', `${finding}, same time`);
  const direction = ahead > 0 ? 'ahead of' : 'behind';
  const difference = `${describeDuration(Math.abs(ahead))} ${direction} the store`;
  return warning('token store', `${finding}; this machine is ${difference}`, 'set the clock');
}

/** Returns a finding if the program of the credential helper is missing. */
export function helperFinding(settings: Settings, io: Io): Finding | undefined {
  const helper = valueOr(() => settings.text('credential-helper'), undefined);
  if (helper === undefined) return undefined;
  const program = helperProgram(helper);
  if (findProgram(program, io)) return undefined;
  const missing = new ImgctlError('config', `the credential helper ${program} is not installed`, {
    hint: `install it, or run: imgctl config unset credential-helper${settings.profileFlag}`,
  });
  return failed('password', missing);
}

function findProgram(program: string, { env, cwd, system }: Io): boolean {
  const isWindows = system.platform === 'win32';
  const folders = /[\\/]/.test(program) ? [''] : (env.PATH ?? '').split(path.delimiter);
  return folders.some((folder) =>
    (isWindows ? ['', '.exe'] : ['']).some((suffix) => {
      const file = path.resolve(cwd, folder, program + suffix);
      return !('error' in valueOrError(() => fs.accessSync(file, fs.constants.X_OK)));
    }),
  );
}
