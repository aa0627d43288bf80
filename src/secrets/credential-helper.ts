// Docker's credential helpers: they have one password per base URL, perhaps of another user.

import type { Account } from '../config/settings.ts';
import { ImgctlError, tryOr } from '../errors.ts';
import { advice } from '../facts.ts';
import type { Io } from '../io.ts';
import { shellQuote } from '../words.ts';
import { PasswordProgram, type PasswordProtocol } from './password-program.ts';

/** @param helper its name, or a path */
export function credentialHelper(helper: string, io: Io, limit?: number): PasswordProtocol {
  const name = helper.replace(/^docker-credential-/, '');
  const command = /[\\/]/.test(helper) ? helper : `docker-credential-${name}`;
  const program = new PasswordProgram(
    io,
    {
      command,
      // The text of docker's own helpers.
      isNotFound: ({ failure, stdout }) =>
        failure !== undefined && stdout.includes('credentials not found'),
      errorsOn: 'stdout',
      namesAction: true,
      factsIfFailed: advice(`check it with: ${shellQuote(command)} list`),
      factsIfMissing: { kind: 'helper-missing' },
    },
    limit,
  );
  const get = async ({ baseUrl, username }: Account) => {
    const json = await program.call(['get'], { input: baseUrl });
    if (json === undefined) return undefined;
    const { Username, Secret: password } = Object(tryOr(() => JSON.parse(json), {}));
    if (typeof Username !== 'string' || typeof password !== 'string') {
      // The output may hold the password, so it is not shown.
      const message = `${program.name} get did not print a user name and secret as JSON`;
      const facts = advice('use a helper that speaks the protocol of docker-credential-helpers');
      throw new ImgctlError('config', message, { facts });
    }
    // docker-credential-pass 0.6 prints an empty record for a server that it does not know.
    return Username === username ? password : undefined;
  };
  return {
    program,
    get,
    async set({ baseUrl, username }, password) {
      const record = { ServerURL: baseUrl, Username: username, Secret: password };
      await program.call(['store'], { input: JSON.stringify(record), password });
    },
    async remove(account) {
      // Not that of another user.
      if ((await get(account)) === undefined) return false;
      await program.call(['erase'], { input: account.baseUrl });
      return true;
    },
  };
}
