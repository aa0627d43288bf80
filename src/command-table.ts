// Each command by name and lazy import, in the order in which help shows them.

import type { Command } from 'commander';
import type { Context } from './context.ts';

/** A command's own file: it adds arguments, options, help and action to the bare command. */
export interface CommandModule {
  define(command: Command, context: Context): void;
}

export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  readonly alias?: string;
  /** For programs, not people: in no help and no list. */
  readonly hidden?: boolean;
  readonly load?: () => Promise<CommandModule>;
  /** Of a group, and the examples of its own help. */
  readonly subcommands?: readonly CommandSpec[];
  readonly examples?: string;
}

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'login',
    summary: 'log in and cache an access token',
    load: () => import('./commands/login.ts'),
  },
  {
    name: 'logout',
    summary: 'forget the cached token and a stored password',
    load: () => import('./commands/logout.ts'),
  },
  {
    name: 'whoami',
    summary: 'show profile, service, user and token state',
    load: () => import('./commands/whoami.ts'),
  },
  {
    name: 'token',
    summary: 'print a valid access token',
    load: () => import('./commands/token.ts'),
  },
  {
    name: 'images',
    summary: 'the public image catalogue',
    examples: '\nExamples:\n  $ imgctl images list ubuntu --limit 5\n  $ imgctl images get 1001\n',
    subcommands: [
      {
        name: 'list',
        alias: 'ls',
        summary: 'list and filter images',
        load: () => import('./commands/images-list.ts'),
      },
      {
        name: 'get',
        summary: 'show images by id or name',
        load: () => import('./commands/images-get.ts'),
      },
    ],
  },
  {
    name: 'my-images',
    summary: "list the user's own images",
    load: () => import('./commands/my-images.ts'),
  },
  {
    name: 'sync',
    summary: 'submit an image sync after an upload',
    load: () => import('./commands/sync.ts'),
  },
  {
    name: 'sync-status',
    summary: 'show or follow a sync request',
    load: () => import('./commands/sync-status.ts'),
  },
  {
    name: 'inspect',
    summary: 'show what is in a local OVA or OVF package',
    load: () => import('./commands/inspect.ts'),
  },
  {
    name: 'validate',
    summary: 'check a local OVA or OVF package before its upload',
    load: () => import('./commands/validate.ts'),
  },
  {
    name: 'api',
    summary: 'send any authenticated request',
    load: () => import('./commands/api.ts'),
  },
  {
    name: 'config',
    summary: 'show and change settings',
    load: () => import('./commands/config.ts'),
  },
  {
    name: 'profile',
    summary: 'the profiles, the default one, away with one',
    load: () => import('./commands/profile.ts'),
  },
  {
    name: 'doctor',
    summary: 'check configuration, network and login, with a remedy for what is wrong',
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'emulator',
    summary: 'run the embedded service on this machine',
    load: () => import('./commands/emulator.ts'),
  },
  {
    name: 'demo',
    summary: 'the whole job against a fresh embedded service',
    load: () => import('./commands/demo.ts'),
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    load: () => import('./commands/completion.ts'),
  },
  {
    name: '__complete',
    summary: 'values for the completion scripts',
    hidden: true,
    load: () => import('./commands/complete.ts'),
  },
  {
    name: 'help',
    summary: 'show help of a command or topic',
    load: () => import('./commands/help.ts'),
  },
];
