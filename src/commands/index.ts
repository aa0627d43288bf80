// Every command, in the order of the reference.

import type { CommandSpec } from '../cli/spec.ts';
import { api } from './api.ts';
import { commands } from './commands.ts';
import { complete } from './complete.ts';
import { completion } from './completion.ts';
import { config } from './config.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { emulator } from './emulator.ts';
import { help, version } from './help.ts';
import { images } from './images/index.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { mcp } from './mcp.ts';
import { myImages } from './my-images.ts';
import { inspect } from './package/inspect.ts';
import { validate } from './package/validate.ts';
import { profile } from './profile.ts';
import { push } from './push/push.ts';
import { syncStatus } from './sync/status.ts';
import { sync } from './sync/sync.ts';
import { token } from './token.ts';
import { whoami } from './whoami.ts';

/** The headings of the overview and their commands. */
const GROUPS: Readonly<Record<string, readonly CommandSpec[]>> = {
  Start: [login, logout, whoami, demo, doctor],
  Images: [images, myImages],
  'Packages and sync': [inspect, validate, push, sync, syncStatus],
  Configuration: [config, profile, completion],
  Automation: [
    ...[api, token, mcp, commands(() => COMMANDS), emulator],
    ...[complete(() => COMMANDS), help(() => COMMANDS), version],
  ],
};

export const COMMANDS: readonly CommandSpec[] = Object.entries(GROUPS).flatMap(
  ([group, commands]) => commands.map((command) => ({ ...command, group })),
);

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
  subcommands: COMMANDS,
};
