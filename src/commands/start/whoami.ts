// imgctl whoami: shows the profile, service and user, and whether the token is valid.

import { command, GET_OPTION, option, type Parsed, SERVICE_CODES } from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { hint, imgctl } from '../../facts.ts';
import { column } from '../../output/columns.ts';
import { unattendedPassword } from '../../secrets/passwords.ts';
import { noValidToken, tokenState } from '../../session/cached-token.ts';
import { describeDuration, utcTime } from '../../words.ts';

const COLUMNS = [
  column('profile', 'string', 'name of the profile'),
  column('base_url', 'string', 'address of the service'),
  column('username', 'string or null', 'user name of the account', { isId: true }),
  column('token_state', 'string', 'valid, expired, none or from IMGCTL_TOKEN', { isState: true }),
  column('checked', 'boolean', 'true if the service accepted the token just now', {
    text: (checked) => (checked ? true : null),
  }),
  column('expires_on', 'string or null', 'when the token expires, in UTC (ISO 8601)', {
    isTime: true,
  }),
  column('expires_in', 'number or null', 'seconds until then', {
    text: (seconds) => describeDuration(1_000 * Number(seconds)),
  }),
  column('stored_in', 'string or null', 'file or token store that holds the token'),
];

const OPTIONS = [option('--check', 'check the token with the service'), GET_OPTION] as const;

export const whoami = command({
  name: 'whoami',
  summary: 'show profile, service, user and token state',
  description: [
    'Exits with 4 if you are not logged in or the token has expired. Without --check, the clock of this machine decides.',
  ],
  examples: ['imgctl whoami', 'imgctl whoami --check --json'],
  seeAlso: ['login', 'token', 'doctor'],
  options: OPTIONS,
  fields: COLUMNS,
  exitCodes: SERVICE_CODES,
  run,
});

async function run(context: Context, options: Parsed<typeof OPTIONS>): Promise<Result> {
  // In a table, the rest would be rows of `-`.
  const output = context.output(COLUMNS, { ...options, omitsMissing: true });
  const { account, client, tokens, stores } = await context.session();
  if (options.check) await client.serviceRoot();
  const now = context.io.now();
  const token = tokens && (await stores.use((store) => store.read()));
  const state = tokens ? tokenState(token, now) : 'from IMGCTL_TOKEN';
  const left = Math.max(0, (token?.expiresAt ?? 0) - now);
  const record = {
    profile: account.profile,
    base_url: account.baseUrl,
    username: account.username || null,
    token_state: options.check && tokens ? 'valid' : state,
    checked: options.check === true,
    expires_on: token ? utcTime(token.expiresAt) : null,
    expires_in: token ? Math.round(left / 1000) : null,
    stored_in: (token && stores.current.location) ?? null,
  };
  if (options.check || (state !== 'none' && state !== 'expired'))
    return { output, rows: [record], isOne: true };
  const error = noValidToken(state);
  const canRenew = account.username && unattendedPassword(context.settings, context.io);
  const check = hint`the next command requests a token; check with: ${imgctl('doctor')}`;
  const why = canRenew ? error.with({ facts: check }) : error;
  return { output, rows: [record], isOne: true, error: why };
}
