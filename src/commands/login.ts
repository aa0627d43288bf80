// imgctl login: asks for what it was not given, fetches a token, remembers where it logged in.

import type { Command } from 'commander';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { printable } from '../output/sanitize.ts';
import { describeDuration } from '../session/duration.ts';
import { passwordOfCommand, passwordOfStdin, unattendedPassword } from '../session/password.ts';
import { changeProfile } from '../session/profile.ts';
import { ask } from '../session/prompt.ts';

interface LoginOptions {
  username?: string;
  passwordStdin?: boolean;
  passwordCommand?: string;
}

export function define(command: Command, context: Context): void {
  command
    .option('--username <name>', 'user name of the account')
    .option('--password-stdin', 'read the password from standard input')
    .option(
      '--password-command <command>',
      'run by the shell; its first output line is the password',
    )
    .addHelpText('after', EXAMPLES)
    .action((options: LoginOptions) => login(context, options));
}

const EXAMPLES = `
What is not given is asked for on the terminal. A password command is kept in the profile, so that
commands renew the token by themselves when it has expired.

Examples:
  $ imgctl login --base-url https://images.example.com --username alice
  $ imgctl login --username backup --password-command 'cat /run/secrets/imgctl'
  $ pass show images | imgctl login --username alice --password-stdin
`;

async function login(context: Context, options: LoginOptions): Promise<void> {
  const { io } = context;
  if (io.env.IMGCTL_TOKEN) {
    throw new ImgctlError('usage', 'IMGCTL_TOKEN is set: it would be used instead of this login', {
      hint: 'unset IMGCTL_TOKEN, then log in',
    });
  }
  if (options.passwordStdin && options.passwordCommand !== undefined) {
    throw new ImgctlError('usage', '--password-stdin and --password-command contradict', {
      hint: 'give one of them',
    });
  }
  const given = context.settingsWith({
    username: options.username,
    'password-command': options.passwordCommand,
  });
  const baseUrl = given.text('base-url') ?? (await ask(io, 'Base URL', { hidden: false }));
  const username = given.text('username') ?? (await ask(io, 'User name', { hidden: false }));
  const settings = context.settingsWith({
    username,
    'base-url': baseUrl,
    'password-command': options.passwordCommand,
  });
  const session = await context.openSession(settings);
  const password = await readPassword();
  const { tokens } = session;
  if (tokens === undefined) throw new Error('a login without IMGCTL_TOKEN has a source of tokens');
  const token = await tokens.login(password);

  await changeProfile(context.paths.config, io, settings.profile, {
    'base-url': session.baseUrl,
    username,
    ...(options.passwordCommand === undefined
      ? {}
      : { 'password-command': options.passwordCommand }),
  }).catch((error: unknown) => {
    // The login itself has worked; without a place to keep the rest it holds for this run.
    if (!(error instanceof ImgctlError) || error.code !== 'config') throw error;
    // Where the token could not be kept either, one warning has said so.
    if (session.cache.read()) context.warn(error.message, error.hint);
  });

  const lifetime = describeDuration(token.expiresAt - io.now());
  context.note(
    `logged in to ${session.baseUrl} as ${printable(username)}; the token is valid for ${lifetime}`,
  );
  const { remaining, resetsAt } = token.limit;
  if (remaining !== undefined && remaining <= 2) {
    const until =
      resetsAt === undefined ? '' : ` in the next ${describeDuration(resetsAt - io.now())}`;
    context.note(`${remaining} token request${remaining === 1 ? '' : 's'} left${until}`);
  }

  async function readPassword(): Promise<string> {
    if (options.passwordStdin) return passwordOfStdin(io);
    if (options.passwordCommand !== undefined)
      return passwordOfCommand(options.passwordCommand, io);
    const source = unattendedPassword(settings, io);
    return source ? source.read() : ask(io, 'Password', { hidden: true });
  }
}
