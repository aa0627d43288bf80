// Every command, in the order of the reference.

import type { AnyCommand } from '../cli/command.ts';
import { UNLISTED } from '../cli/declarations.ts';
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
import { myImages } from './images/list.ts';
import { login } from './login.ts';
import { logout } from './logout.ts';
import { mcp } from './mcp.ts';
import { inspect } from './package/inspect.ts';
import { validate } from './package/validate.ts';
import { profile } from './profile.ts';
import { push } from './push/push.ts';
import { syncStatus } from './sync/status.ts';
import { sync } from './sync/sync.ts';
import { token } from './token.ts';
import { whoami } from './whoami.ts';

/** The headings of the overview and their commands. */
const GROUPS: Readonly<Record<string, readonly AnyCommand[]>> = {
  Start: [login, logout, whoami, demo, doctor],
  Images: [images, myImages],
  'Packages and sync': [inspect, validate, push, sync, syncStatus],
  Configuration: [config, profile, completion],
  Automation: [api, token, mcp, emulator, help(() => COMMANDS)],
  [UNLISTED]: [commands(() => COMMANDS), version, complete(() => COMMANDS)],
};

export const COMMANDS: readonly AnyCommand[] = Object.entries(GROUPS).flatMap(([group, commands]) =>
  commands.map((command) => ({ ...command, group })),
);
