// imgctl logout: forgets the cached token and the stored password.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { counted } from '../output/index.ts';
import { changeProfile } from '../session/profile.ts';
import { Settings, STORED_PASSWORD } from '../session/settings.ts';
import { forgetTokens, TokenCache } from '../session/token-cache.ts';

export function define(command: Command, context: Context): void {
  command
    .option('--all', 'the tokens and stored passwords of all profiles')
    .addHelpText('after', EXAMPLES)
    .action((options: { all?: boolean }) => (options.all ? logoutAll(context) : logout(context)));
}

const EXAMPLES = `
A password that "imgctl login --store-password" has put into the system keychain is forgotten as well.
Settings are kept; the service is not told, as it has no way to take a token back.

Examples:
  $ imgctl logout
  $ imgctl logout --profile staging
  $ imgctl logout --all
`;

async function logout(context: Context): Promise<void> {
  const { settings } = context;
  const cache = new TokenCache(context.paths.config, settings.account, (message) =>
    context.console.warn(message),
  );
  context.console.note(cache.forget() ? 'logged out' : 'there was no token to forget');
  if (await forgetPassword(context, settings))
    context.console.note('the stored password is forgotten');
}

async function logoutAll(context: Context): Promise<void> {
  const count = forgetTokens(context.paths.config);
  context.console.note(`${counted(count, 'token')} forgotten`);
  for (const [profile, stored] of context.config.profiles) {
    if (await forgetPassword(context, new Settings(profile, {}, {}, stored))) {
      context.console.note(`the stored password of profile ${profile} is forgotten`);
    }
  }
}

/** Takes the password of a profile out of the keychain. @returns whether one was stored. @throws ImgctlError config */
export async function forgetPassword(context: Context, settings: Settings): Promise<boolean> {
  const { profile, hasStoredPassword } = settings;
  if (!hasStoredPassword) return false;
  const { openKeychain } = await import('../session/keychain.ts');
  await openKeychain(context.io).forget(profile);
  const { paths, io } = context;
  await changeProfile(paths.config, io, profile, { [STORED_PASSWORD]: undefined });
  return true;
}
