// The files that imgctl keeps, for the pages that have a place for them.

import type { Term } from './blocks.ts';

export const FILES: readonly Term[] = [
  { term: '~/.config/imgctl/config.json', text: 'settings of all profiles' },
  { term: '~/.config/imgctl/tokens/', text: 'access tokens, readable by their owner alone' },
  { term: '~/.local/state/imgctl/sync-history.json', text: 'sync requests sent from this machine' },
  { term: '~/.cache/imgctl/images/', text: 'names of images, for completion' },
];

export const FILES_NOTE =
  'XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME are heeded; IMGCTL_CONFIG_DIR takes everything to one place.';
