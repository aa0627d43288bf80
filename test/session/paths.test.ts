// Where imgctl keeps its files.

import { expect, it } from 'vitest';
import { findPaths } from '../../src/session/paths.ts';

const HOME = '/home/demo';
const OF_HOME = { config: '/home/demo/.config/imgctl', state: '/home/demo/.local/state/imgctl' };
const XDG = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s' };
const NONE = { config: undefined, state: undefined };

it.each([
  ['the home directory', { HOME }, OF_HOME],
  ['that of Windows', { USERPROFILE: HOME }, OF_HOME],
  ['XDG', { HOME, ...XDG }, { config: '/c/imgctl', state: '/s/imgctl' }],
  ['XDG without a home', XDG, { config: '/c/imgctl', state: '/s/imgctl' }],
  [
    'empty variables',
    { HOME, IMGCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '', XDG_STATE_HOME: '' },
    OF_HOME,
  ],
  ['relative XDG', { HOME, XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: './s' }, OF_HOME],
  [
    'its own directory',
    { HOME, ...XDG, IMGCTL_CONFIG_DIR: '/own' },
    { config: '/own', state: '/own' },
  ],
  ['a relative one', { IMGCTL_CONFIG_DIR: 'own' }, { config: '/work/own', state: '/work/own' }],
  ['nothing', {}, NONE],
  ['an empty home', { HOME: '' }, NONE],
  ['a relative home', { HOME: 'home' }, NONE],
  ['APPDATA elsewhere', { HOME, APPDATA: '/appdata' }, OF_HOME],
])('%s', (_what, env, paths) => {
  expect(findPaths(env, '/work', 'linux')).toEqual(paths);
});

it('is APPDATA on Windows', () => {
  const paths = { config: '/appdata/imgctl', state: '/appdata/imgctl' };
  expect(findPaths({ HOME, APPDATA: '/appdata' }, '/work', 'win32')).toEqual(paths);
});
