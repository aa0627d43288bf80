// Where imgctl keeps its files.

import { expect, it } from 'vitest';
import { findPaths } from '../../src/files/paths.ts';

const HOME = '/home/demo';
const OF_HOME = {
  config: '/home/demo/.config/imgctl',
  state: '/home/demo/.local/state/imgctl',
  cache: '/home/demo/.cache/imgctl',
};
const XDG = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' };
const OF_XDG = { config: '/c/imgctl', state: '/s/imgctl', cache: '/k/imgctl' };
const NONE = { config: undefined, state: undefined, cache: undefined };

it.each([
  ['the home directory', { HOME }, OF_HOME],
  ['that of Windows', { USERPROFILE: HOME }, OF_HOME],
  ['XDG', { HOME, ...XDG }, OF_XDG],
  ['XDG without a home', XDG, OF_XDG],
  [
    'empty variables',
    { HOME, IMGCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' },
    OF_HOME,
  ],
  [
    'relative XDG',
    { HOME, XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: './s', XDG_CACHE_HOME: 'k' },
    OF_HOME,
  ],
  [
    'its own directory',
    { HOME, ...XDG, IMGCTL_CONFIG_DIR: '/own' },
    { config: '/own', state: '/own', cache: '/own' },
  ],
  [
    'a relative one',
    { IMGCTL_CONFIG_DIR: 'own' },
    { config: '/work/own', state: '/work/own', cache: '/work/own' },
  ],
  ['nothing', {}, NONE],
  ['an empty home', { HOME: '' }, NONE],
  ['a relative home', { HOME: 'home' }, NONE],
  ['APPDATA elsewhere', { HOME, APPDATA: '/appdata' }, OF_HOME],
])('%s', (_what, env, paths) => {
  expect(findPaths(env, '/work', 'linux')).toEqual(paths);
});

it('is APPDATA on Windows, and LOCALAPPDATA for the cache', () => {
  const paths = { config: '/appdata/imgctl', state: '/appdata/imgctl', cache: '/local/imgctl' };
  expect(
    findPaths({ HOME, APPDATA: '/appdata', LOCALAPPDATA: '/local' }, '/work', 'win32'),
  ).toEqual(paths);
});
