// The files that imgctl writes, for the pages that list them.

export const FILES = [
  ['~/.config/imgctl/config.json', 'settings of all profiles'],
  ['~/.config/imgctl/tokens/', 'access tokens, readable only by their owner'],
  ['~/.local/state/imgctl/sync-history.json', 'sync requests submitted from this machine'],
  ['~/.local/state/imgctl/changes/', 'what the last run of images changes saw'],
  ['~/.cache/imgctl/images/', 'names of images, for completion'],
  ['~/.cache/imgctl/compiled/', 'compiled code, for a fast start from Node 22 on'],
];

export const FILES_NOTE =
  'XDG_CONFIG_HOME, XDG_STATE_HOME and XDG_CACHE_HOME are respected; IMGCTL_CONFIG_DIR puts everything but compiled code in one directory.';
