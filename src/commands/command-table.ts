// The command table: the root and every command, in the order of the reference.

import { complete, completion, help, printVersion } from './table/automation.ts';
import { config, profile } from './table/configuration.ts';
import { emulator } from './table/emulator.ts';
import { images } from './table/images.ts';
import { inspect, myImages, sync, syncStatus, validate } from './table/packages.ts';
import { api, commands, mcp } from './table/programs.ts';
import { push } from './table/push.ts';
import { demo, doctor, login, logout, token, whoami } from './table/setup.ts';
import type { CommandSpec } from './table/spec.ts';
import { TOPIC_NAMES } from './table/topics.ts';

/** The headings of the overview and their commands. */
const GROUPS: Readonly<Record<string, readonly CommandSpec[]>> = {
  Start: [login, logout, whoami, demo, doctor],
  Images: [images, myImages],
  'Packages and sync': [inspect, validate, push, sync, syncStatus],
  Configuration: [config, profile, completion],
  Automation: [api, token, mcp, commands, emulator, complete, help, printVersion],
};

export const ROOT: CommandSpec = {
  name: 'imgctl',
  summary: 'list, filter and sync deploy-ready OVA and OVF images',
  examples: [
    'imgctl demo',
    'imgctl login --username alice',
    'imgctl images latest ubuntu server --get path',
    'imgctl images list ubuntu --sort name:version,desc --limit 10',
    'imgctl sync --wait',
  ],
  seeAlso: TOPIC_NAMES.map((name) => `help ${name}`),
  subcommands: Object.entries(GROUPS).flatMap(([group, commands]) =>
    commands.map((command) => ({ ...command, group })),
  ),
};
