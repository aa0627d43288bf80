// imgctl profile: lists, selects and deletes profiles.

import { suggest } from '../../choices.ts';
import type { CommandDeclaration } from '../../cli/command-types.ts';
import { argument, command } from '../../cli/declare.ts';
import type { Result } from '../../cli/result.ts';
import { suggestProfiles } from '../../cli/suggestions.ts';
import { type ConfigFile, changeConfigFile, DEFAULT_PROFILE } from '../../config/config-file.ts';
import { findPaths } from '../../config/paths.ts';
import { shownAddress, storedSettings } from '../../config/settings.ts';
import { locationToRead } from '../../config/stored-password.ts';
import type { Context } from '../../context.ts';
import { ImgctlError, tryOr } from '../../errors.ts';
import { hint, imgctl } from '../../facts.ts';
import { column, namesOf } from '../../output/columns.ts';
import { tokenState } from '../../session/cached-token.ts';
import { forgetTokens } from '../../session/token-files.ts';
import { quoted } from '../../words.ts';
import { deleteStoredPasswords, profilesSharing, throwFailures } from '../stored-login.ts';

const COLUMNS = [
  column('name', 'string', 'name of the profile', {
    isId: true,
    isCuttable: true,
    text: (name, row) => (row.default ? `${name} *` : name),
  }),
  column('default', 'boolean', 'true for the default profile'),
  column('base_url', 'string or null', 'address of the service'),
  column('username', 'string or null', 'user name of the account'),
  column('token_state', 'string', 'state of the cached token: valid, expired or none', {
    isState: true,
  }),
  column('password', 'string or null', 'source of the password: file, command, helper or keychain'),
];

const PROFILE = argument('profile', 'name of the profile', {
  required: true,
  suggest: suggestProfiles,
});

export const profile: CommandDeclaration = {
  name: 'profile',
  summary: 'list, select and delete profiles',
  description: [
    'Each profile has its own settings. Profiles with the same user and base URL share a token. The first login or setting with --profile NAME creates the profile.',
  ],
  examples: ['imgctl profile list', 'imgctl profile use staging'],
  seeAlso: ['login', 'config set'],
  subcommands: [
    command({
      name: 'list',
      otherNames: ['ls'],
      summary: 'list profiles',
      description: [
        'Ignores options and environment variables, and does not contact the service. In a table, * marks the default profile. If the column password is empty, log in when the token expires.',
      ],
      examples: ['imgctl profile list', "imgctl profile list --json | jq -r '.[].name'"],
      fields: COLUMNS,
      run: list,
    }),
    command({
      name: 'use',
      otherNames: ['switch', 'select'],
      summary: 'make a profile the default',
      description: ['--profile and IMGCTL_PROFILE override the default.'],
      examples: ['imgctl profile use staging', 'imgctl profile use default'],
      seeAlso: ['help environment'],
      arguments: [PROFILE],
      exitCodes: [5],
      run: use,
    }),
    command({
      name: 'delete',
      otherNames: ['rm', 'remove'],
      summary: 'delete a profile with its settings, token and password',
      description: [
        'Keeps the sync history. Keeps a token, and a password in a credential helper, if another profile uses them. The default profile is deleted only if it is the last one.',
      ],
      examples: [
        'imgctl profile delete staging',
        "imgctl profile list -q | grep '^test-' | xargs -r -n 1 imgctl profile delete",
      ],
      seeAlso: ['logout'],
      arguments: [PROFILE],
      exitCodes: [5],
      run: remove,
    }),
  ],
};

async function list(context: Context): Promise<Result> {
  const { config } = context;
  const { profile = DEFAULT_PROFILE, profiles } = config;
  const shown = ['name', 'base_url', 'username', 'token_state', 'password'];
  const output = context.output(
    COLUMNS,
    { shown, lineColumns: namesOf(COLUMNS) },
    context.safeFormat,
  );
  const rows = [...profiles].map(([name, stored]) => {
    const settings = storedSettings(config, name, context.io.env);
    // An invalid base URL has no token; `config list` reports what is wrong with it.
    const account = tryOr(() => settings.account, undefined);
    const location = tryOr(() => locationToRead(settings), undefined);
    return {
      name,
      default: name === profile,
      // Invalid ones may hold a password.
      base_url: shownAddress(stored['base-url']) || null,
      username: stored.username?.replace(/:.*/s, ':…') ?? null,
      token_state: tokenState(account && context.tokenFiles(account).read(), context.io.now()),
      password:
        (stored['password-file'] && 'file') ||
        (stored['password-command'] && 'command') ||
        (location?.kind ?? null),
    };
  });
  const afterwards = () => {
    const create = hint`create one with: ${imgctl('login')}`;
    if (rows.length === 0) context.console.note('no profiles yet', create);
  };
  return { output, rows, afterwards };
}

async function use(context: Context, _options: object, profile: string): Promise<void> {
  const { io } = context;
  await changeConfigFile(io, (config) => {
    if (profile !== DEFAULT_PROFILE) requireProfile(config, profile);
    return { ...config, profile };
  });
  context.console.success(`Now using profile ${profile}`);
  if (io.env.IMGCTL_PROFILE && io.env.IMGCTL_PROFILE !== profile) {
    const message = `IMGCTL_PROFILE=${io.env.IMGCTL_PROFILE} overrides the default`;
    context.console.warn(message, 'run: unset IMGCTL_PROFILE');
  }
}

async function remove(context: Context, _options: object, name: string): Promise<void> {
  const { config: known } = context.settings;
  requireProfile(known, name);
  refuseInUse(known, name);
  const settings = storedSettings(known, name, context.io.env);
  // One with an invalid base URL has no token.
  const account = tryOr(() => settings.account, undefined);
  if (account && profilesSharing(context, account).length === 0) {
    forgetTokens(findPaths(context.io).config, account);
  }
  const { failures } = await deleteStoredPasswords(context, settings, { keepsShared: true });
  await changeConfigFile(context.io, (config) => {
    refuseInUse(config, name);
    const profiles = new Map(config.profiles);
    profiles.delete(name);
    return { ...config, profiles, profile: config.profile === name ? undefined : config.profile };
  });
  context.console.success(`Deleted profile ${name}`);
  throwFailures(context, failures);
}

/**
 * Without it, later commands would silently use another service; the only profile may be deleted.
 * @throws ImgctlError usage
 */
function refuseInUse(
  { profile = DEFAULT_PROFILE, profiles }: Pick<ConfigFile, 'profile' | 'profiles'>,
  name: string,
): void {
  const other = [...profiles.keys()].find((each) => each !== name);
  if (name !== profile || other === undefined) return;
  const facts = hint`use another one first: ${imgctl('profile', 'use', other)}`;
  throw new ImgctlError('usage', `${name} is the profile in use`, { facts });
}

/** @throws ImgctlError not-found */
export function requireProfile(config: Pick<ConfigFile, 'profiles'>, name: string): void {
  if (!config.profiles.has(name)) throw unknownProfile(config, name);
}

export function unknownProfile(
  { profiles }: Pick<ConfigFile, 'profiles'>,
  name: string,
): ImgctlError {
  const facts = suggest(name, [...profiles.keys()], imgctl('profile', 'list'));
  return new ImgctlError('not-found', `unknown profile ${quoted(name)}`, { facts });
}
