// The schema of each command's JSON output, by the name of its file in docs/schemas.

import {
  CHANGES,
  LATEST,
  LOCK_ADD,
  LOCK_CHECK,
  LOCK_LIST,
  LOCK_UPDATE,
  SNAPSHOT,
} from './choosing.ts';
import { IMAGE_OR_IMAGES, IMAGES, SYNC, SYNC_STATUS } from './images.ts';
import { FINDINGS, PACKAGES } from './packages.ts';
import { PUSH } from './push.ts';
import type { Schema } from './schema.ts';
import { CATALOGUE, DOCTOR, MESSAGES, PROFILES, SETTINGS_LIST, WHOAMI } from './setup.ts';

/** With --columns, --get, --meta, --urls or -q, the output has another shape. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  'images-list': IMAGES,
  'images-get': IMAGE_OR_IMAGES,
  'images-latest': LATEST,
  'images-changes': CHANGES,
  'images-lock-add': LOCK_ADD,
  'images-lock-list': LOCK_LIST,
  'images-lock-check': LOCK_CHECK,
  'images-lock-update': LOCK_UPDATE,
  'images-snapshot': SNAPSHOT,
  'my-images': IMAGES,
  push: PUSH,
  sync: SYNC,
  'sync-status': SYNC_STATUS,
  inspect: PACKAGES,
  validate: FINDINGS,
  whoami: WHOAMI,
  doctor: DOCTOR,
  'config-list': SETTINGS_LIST,
  'profile-list': PROFILES,
  commands: CATALOGUE,
  messages: MESSAGES,
};
