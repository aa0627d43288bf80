// imgctl logout: forgets the cached token.

import type { Command } from 'commander';
import { baseUrlText, parseBaseUrl } from '../api/base-url.ts';
import type { Context } from '../context.ts';
import { forgetAllTokens, TokenCache } from '../session/token-cache.ts';

export function define(command: Command, context: Context): void {
  command
    .option('--all', 'the tokens of all profiles')
    .addHelpText('after', EXAMPLES)
    .action((options: { all?: boolean }) => logout(context, options));
}

const EXAMPLES = `
Settings are kept; the service is not told, as it has no way to take a token back.

Examples:
  $ imgctl logout
  $ imgctl logout --all
`;

async function logout(context: Context, options: { all?: boolean }): Promise<void> {
  if (options.all) {
    const count = forgetAllTokens(context.paths.config);
    return context.note(`${count} token${count === 1 ? '' : 's'} forgotten`);
  }
  const { settings } = context;
  const baseUrl = settings.text('base-url');
  const cache = new TokenCache(
    context.paths.config,
    {
      profile: settings.profile,
      baseUrl: baseUrl === undefined ? '' : baseUrlText(parseBaseUrl(baseUrl, true)),
      username: settings.text('username') ?? '',
    },
    (message) => context.warn(message),
  );
  context.note(cache.forget() ? 'logged out' : 'there was no token to forget');
}
