// The command table: the root and every command, in the order of the reference.

import {
  api,
  commands,
  complete,
  completion,
  emulator,
  help,
  printVersion,
} from './table/automation.ts';
import { config, profile } from './table/configuration.ts';
import { images, inspect, myImages, sync, syncStatus, validate } from './table/images.ts';
import { push } from './table/push.ts';
import { demo, doctor, login, logout, token, whoami } from './table/setup.ts';
import type { CommandSpec } from './table/spec.ts';
import { TOPIC_NAMES } from './table/topics.ts';

export const ROOT: CommandSpec = {
  name: 'imgctl',
  summary: 'list, filter and sync deploy-ready OVA and OVF images',
  examples: [
    'imgctl demo',
    'imgctl login --username alice',
    'imgctl images list ubuntu --sort updated_on,desc --limit 10',
    "imgctl images list --filter name,like,%ubuntu% --json | jq -r '.[].path'",
    'imgctl sync --wait',
  ],
  seeAlso: TOPIC_NAMES.map((name) => `help ${name}`),
  subcommands: [
    login,
    logout,
    whoami,
    token,
    images,
    myImages,
    push,
    sync,
    syncStatus,
    inspect,
    validate,
    api,
    config,
    profile,
    doctor,
    emulator,
    demo,
    completion,
    commands,
    complete,
    help,
    printVersion,
  ],
};
