// imgctl profile: which profiles there are, which one is the default, and away with one.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError, valueOr } from '../errors.ts';
import { createListWriter, type Row } from '../output/index.ts';
import { nearest, quoted, suggest } from '../query/suggest.ts';
import { changeConfigFile } from '../session/profile.ts';
import { DEFAULT_PROFILE, Settings } from '../session/settings.ts';
import { forgetTokens, TokenCache } from '../session/token-cache.ts';
import { forgetPassword } from './logout.ts';
import { stateOf } from './whoami.ts';

export function define(command: Command, context: Context): void {
  command.addHelpText('after', EXAMPLES);
  command
    .command('list')
    .description('Show the profiles, and which one is the default.')
    .addHelpText('after', LIST_EXAMPLES)
    .action(() => list(context));
  command
    .command('use')
    .description('Make a profile the default.')
    .argument('<profile>', 'its name')
    .addHelpText('after', USE_EXAMPLES)
    .action((profile: string) => use(context, profile));
  command
    .command('delete')
    .description('Forget a profile: its settings, its tokens and its stored password.')
    .argument('<profile>', 'its name')
    .addHelpText('after', DELETE_EXAMPLES)
    .action((profile: string) => remove(context, profile));
}

const EXAMPLES = `
A profile has settings and tokens of its own. It comes into being when something is kept in it:
imgctl login --profile NAME, or imgctl config set KEY VALUE --profile NAME.

Examples:
  $ imgctl profile list
  $ imgctl profile use staging
`;

const LIST_EXAMPLES = `
base_url and username are those of the profile itself, without regard to flags and variables. token is
none, valid or expired by the clock of this machine; the service is not asked. password is where one can
be had without a person: command, keychain, or nowhere.

Examples:
  $ imgctl profile list
  $ imgctl profile list --json | jq -r '.[] | select(.token == "valid").name'
`;

const USE_EXAMPLES = `
--profile and IMGCTL_PROFILE come before the default. A profile that is not there: exit code 5.

Examples:
  $ imgctl profile use staging
  $ imgctl profile use default
`;

const DELETE_EXAMPLES = `
The history of sync requests stays. A profile that is not there: exit code 5.

Examples:
  $ imgctl profile delete staging
  $ imgctl profile list -q | grep '^test-' | xargs -n 1 imgctl profile delete
`;

async function list(context: Context): Promise<void> {
  const { profile = DEFAULT_PROFILE, profiles } = context.config;
  const rows = [...profiles].map(([name, stored]) => describe(context, name, stored, profile));
  const writer = createListWriter({
    ...context.sinkOptions,
    columns: ['name', 'default', 'base_url', 'username', 'token', 'password'],
    idField: 'name',
  });
  await writer.write(rows);
  await writer.end();
  if (rows.length === 0) context.note('there are no profiles', 'run: imgctl login');
}

function describe(
  context: Context,
  name: string,
  stored: Readonly<Record<string, string>>,
  defaultProfile: string,
): Row {
  const settings = new Settings(name, {}, {}, stored);
  const isDefault = name === defaultProfile;
  return {
    name,
    default: context.format === 'table' ? (isDefault ? '*' : '') : isDefault,
    base_url: stored['base-url'] ?? null,
    username: stored.username ?? null,
    token: tokenState(context, settings),
    password: stored['password-command']
      ? 'command'
      : settings.hasStoredPassword
        ? 'keychain'
        : null,
  };
}

/** A base URL that nobody can use has no token either: what is wrong with it is not said here. */
function tokenState(context: Context, settings: Settings): string {
  const account = valueOr(() => settings.account, undefined);
  if (account === undefined) return 'none';
  const cache = new TokenCache(context.paths.config, account, (message) => context.warn(message));
  return stateOf(cache.read(), context.io.now());
}

async function use(context: Context, profile: string): Promise<void> {
  if (profile !== DEFAULT_PROFILE) requireProfile(context, profile);
  const { paths, io } = context;
  await changeConfigFile(paths.config, io, (config) => ({ ...config, profile }));
  context.note(`the default profile is ${profile}`);
  if (io.env.IMGCTL_PROFILE && io.env.IMGCTL_PROFILE !== profile) {
    context.note(`IMGCTL_PROFILE comes before it: ${io.env.IMGCTL_PROFILE}`);
  }
}

async function remove(context: Context, name: string): Promise<void> {
  const stored = requireProfile(context, name);
  const { paths, io } = context;
  forgetTokens(paths.config, name);
  await forgetPassword(context, new Settings(name, {}, {}, stored));
  const wasDefault = context.config.profile === name;
  await changeConfigFile(paths.config, io, (config) => {
    const profiles = new Map(config.profiles);
    profiles.delete(name);
    return { ...config, profiles, profile: config.profile === name ? undefined : config.profile };
  });
  context.note(`profile ${name} is deleted`);
  if (wasDefault) context.note('it was the default one', 'choose another: imgctl profile use NAME');
}

/** The settings of a profile. @throws ImgctlError not-found: there is none of that name */
function requireProfile(context: Context, name: string): Readonly<Record<string, string>> {
  const { profiles } = context.config;
  const stored = profiles.get(name);
  if (stored) return stored;
  throw new ImgctlError('not-found', `there is no profile ${quoted(name)}`, {
    hint: suggest(nearest(name, [...profiles.keys()]), 'imgctl profile list'),
  });
}
