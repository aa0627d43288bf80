// The schema of each command's JSON output, by the name of its file in docs/schemas.

import { IMAGE_OR_IMAGES, IMAGES, SYNC, SYNC_STATUS } from './images.ts';
import { FINDINGS, PACKAGES } from './packages.ts';
import type { Schema } from './schema.ts';
import { CATALOGUE, DOCTOR, MESSAGES, PROFILES, SETTINGS_LIST, WHOAMI } from './setup.ts';

/** With --columns, --get, --meta, --urls or -q, the output has another shape. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  'images-list': IMAGES,
  'images-get': IMAGE_OR_IMAGES,
  'my-images': IMAGES,
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
