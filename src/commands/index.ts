// Every command, in the order of the reference.

import { type CommandDeclaration, UNLISTED } from '../cli/command-types.ts';
import { api } from './automation/api.ts';
import { emulator } from './automation/emulator.ts';
import { help, version } from './automation/help.ts';
import { mcp } from './automation/mcp.ts';
import { token } from './automation/token.ts';
import { complete } from './configuration/complete.ts';
import { completion } from './configuration/completion.ts';
import { config } from './configuration/config.ts';
import { profile } from './configuration/profile.ts';
import { images } from './images/index.ts';
import { myImages } from './images/list.ts';
import { inspect } from './packages/inspect.ts';
import { push } from './packages/push/push.ts';
import { sync } from './packages/sync/sync.ts';
import { syncStatus } from './packages/sync/sync-status.ts';
import { validate } from './packages/validate.ts';
import { demo } from './start/demo.ts';
import { doctor } from './start/doctor/doctor.ts';
import { login } from './start/login.ts';
import { logout } from './start/logout.ts';
import { whoami } from './start/whoami.ts';

const GROUPS: Readonly<Record<string, readonly CommandDeclaration[]>> = {
  Start: [login, logout, whoami, demo, doctor],
  Images: [images, myImages],
  'Packages and sync': [inspect, validate, push, sync, syncStatus],
  Configuration: [config, profile, completion],
  Automation: [api, token, mcp, emulator, help],
  [UNLISTED]: [version, complete(() => COMMANDS)],
};

export const COMMANDS: readonly CommandDeclaration[] = Object.entries(GROUPS).flatMap(
  ([group, commands]) => commands.map((command) => ({ ...command, group })),
);
