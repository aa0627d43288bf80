// Failures of commands, and how to cause them.

import type { User } from '../../src/emulator/settings.ts';
import { type ServeOptions, serve, type TestEmulator } from '../support/emulator.ts';
import { runCli } from '../support/io.ts';
import { unusedPort } from '../support/sockets.ts';
import { account, type Environment, freshHome } from '../support/users.ts';

type Command = { readonly env: Environment; readonly argv: readonly string[] };

/** Causes a failure for this user. */
type Prepare = (user: User) => Promise<Command>;

const LIST = 'images list --retries 0';

const at = ({ name, password }: User, baseUrl: string, line = LIST): Command => ({
  env: account(baseUrl, name, password),
  argv: line.split(' '),
});

/** A command without a service. */
const locally =
  (env: Environment, line = LIST): Prepare =>
  async () => ({ env: { ...freshHome(), ...env }, argv: line.split(' ') });

/** A command at an emulator with these options. */
const running =
  (line: string, options: ServeOptions = {}): Prepare =>
  async (user) =>
    at(user, (await serve({ users: [user], ...options })).baseUrl, line);

const listWith = (fault: string) => running(LIST, { faults: [`GET /v2/image=${fault}`] });

/** With a token, so that the first request is the one that gets no response. */
const stalling: Prepare = async (user) => {
  const { env, argv } = await listWith('stall')(user);
  return { env: { ...env, IMGCTL_TOKEN: 'T' }, argv: [...argv, '--timeout', '300ms'] };
};

/** A listing of a user who logged in before a change of the service. */
const afterLogin =
  (change: (service: TestEmulator, user: User) => void): Prepare =>
  async (user) => {
    const service = await serve({ users: [user] });
    const { env, argv } = at(user, service.baseUrl);
    const { IMGCTL_PASSWORD: stdin = '', ...rest } = env;
    await runCli(['login', '--password-stdin'], { env: rest, stdin });
    change(service, user);
    return { env: rest, argv };
  };

const unknownHost: Prepare = async (user) => at(user, 'https://images.invalid');
const unreachable: Prepare = async (user) => at(user, (await unusedPort()).baseUrl);

const withToken: Prepare = async (user) => {
  const { env, argv } = await running(LIST)(user);
  return { env: { ...env, IMGCTL_TOKEN: 'made-up' }, argv };
};

const withWrongPassword: Prepare = async (user) => {
  const { baseUrl } = await serve({ users: [user] });
  return at({ ...user, password: `${user.password}-no` }, baseUrl, 'login');
};

const denied: Prepare = (user) => running('login', { users: [], deniedUsers: [user] })(user);

const afterFiveLogins: Prepare = async (user) => {
  const { baseUrl, requestToken } = await serve({ users: [user] });
  for (let count = 1; count <= 5; count += 1) await requestToken(user.name, user.password);
  return at(user, baseUrl, 'login');
};

const ANONYMOUS = { IMGCTL_BASE_URL: 'http://127.0.0.1:9', IMGCTL_PROFILE: 'staging' };
const SYNC = 'sync --wait --wait-timeout 1ms -q';
const slowly = { syncDelay: 3_600_000 };
const expire = (service: TestEmulator) => service.expireTokens();
const revoke = (service: TestEmulator, { name }: User) => service.revokeAccess(name);

const HTML = /^bad-answer: GET http:\S+\/v2\/image returned 200 with HTML .*JSON\n.*base URL/;
const STALLED = /^timeout: .*0\.3 s.*\n.*--timeout/;
const REFUSED = /^not-permitted: .*: User is not authorized to access\n.*access to its API/;
const EXPIRED = /^token-refused: .*: Valid token, but has expired\n.*imgctl login/;
const WRONG =
  /^wrong-credentials: .*: Invalid username .*\ncheck IMGCTL_PASSWORD and the user name/;
const LOGGED_OUT = /^not-logged-in: not logged in to http:.*\n.*imgctl login --profile staging$/;
const NO_SYNC = /^not-found: .*999 does not exist\n.*sync-status/;
const LATER =
  /^still-waiting: sync request \d+ did not .* PENDING\)\n.*imgctl sync-status \d+ --wait$/;
const LIMITED = /^rate-limited: .*requests\ntry again at [\d:]{8} \(in (1 min( 1 s)?|[45]\d s)\)$/;

/** What happened, the exit code, the code with the message and on a second line the hint, and how to cause it. */
export const FAILURES: readonly (readonly [string, number, RegExp, Prepare])[] = [
  ['HTML instead of JSON', 1, HTML, listWith('html')],
  ['a failing service', 1, /^server-error: .*: 503, Fault .*\n.*try again later/, listWith('503')],
  ['no base URL', 2, /^config: no service address is set.*\n.*imgctl login/, locally({})],
  [
    'an unknown command',
    2,
    /^usage: unknown .*'imags'\n.*images list\?/,
    locally({}, 'imags list'),
  ],
  ['an unreachable host', 3, /^unreachable: .*127\.0\.0\.1.*\n./, unreachable],
  ['an unknown host name', 3, /^unreachable: .*images\.invalid.*\n./, unknownHost],
  ['a stalling service', 3, STALLED, stalling],
  ['an expired token', 4, EXPIRED, afterLogin(expire)],
  ['an invalid token', 4, /^token-refused: .*: Invalid token\n.*IMGCTL_TOKEN/, withToken],
  ['withdrawn access', 4, REFUSED, afterLogin(revoke)],
  ['a wrong password', 4, WRONG, withWrongPassword],
  ['a user without permission', 4, REFUSED, denied],
  ['no token and no password', 4, LOGGED_OUT, locally(ANONYMOUS)],
  [
    'an unknown image id',
    5,
    /^not-found: .*999.*\n.*images get --mine 999/,
    running('images get 999'),
  ],
  ['an unknown sync', 5, NO_SYNC, running('sync-status 999')],
  ['too many token requests', 6, LIMITED, afterFiveLogins],
  ['a sync longer than --wait-timeout', 7, LATER, running(SYNC, slowly)],
];
