// The folders of imgctl's files.

import { expect, it } from 'vitest';
import { findPaths } from '../../src/files/paths.ts';
import { unixOnlySuite } from '../support/platform.ts';

const HOME = '/home/demo';
const OF_HOME = {
  config: '/home/demo/.config/imgctl',
  state: '/home/demo/.local/state/imgctl',
  cache: '/home/demo/.cache/imgctl',
};
const XDG = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' };
const OF_XDG = { config: '/c/imgctl', state: '/s/imgctl', cache: '/k/imgctl' };
const NONE = { config: undefined, state: undefined, cache: undefined };

unixOnlySuite('paths are written for Unix')('findPaths', () => {
  it.each([
    ['HOME', { HOME }, OF_HOME],
    ['USERPROFILE', { USERPROFILE: HOME }, OF_HOME],
    ['the XDG variables', { HOME, ...XDG }, OF_XDG],
    ['the XDG variables without a home', XDG, OF_XDG],
    [
      'HOME if other variables are empty',
      { HOME, IMGCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' },
      OF_HOME,
    ],
    [
      'HOME if the XDG variables are relative',
      { HOME, XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: './s', XDG_CACHE_HOME: 'k' },
      OF_HOME,
    ],
    [
      'IMGCTL_CONFIG_DIR before all others',
      { HOME, ...XDG, IMGCTL_CONFIG_DIR: '/own' },
      { config: '/own', state: '/own', cache: '/own' },
    ],
    [
      'a relative IMGCTL_CONFIG_DIR',
      { IMGCTL_CONFIG_DIR: 'own' },
      { config: '/work/own', state: '/work/own', cache: '/work/own' },
    ],
    ['no variable', {}, NONE],
    ['an empty home', { HOME: '' }, NONE],
    ['a relative home', { HOME: 'home' }, NONE],
    ['HOME instead of APPDATA on Linux', { HOME, APPDATA: '/appdata' }, OF_HOME],
  ])('uses %s', (_what, env, paths) => {
    expect(findPaths(env, '/work', 'linux')).toEqual(paths);
  });

  it('uses APPDATA and, for the cache, LOCALAPPDATA on Windows', () => {
    const paths = { config: '/appdata/imgctl', state: '/appdata/imgctl', cache: '/local/imgctl' };
    expect(
      findPaths({ HOME, APPDATA: '/appdata', LOCALAPPDATA: '/local' }, '/work', 'win32'),
    ).toEqual(paths);
  });
});
