// The folders of imgctl's files.

import { expect, it } from 'vitest';
import { findPaths } from '../../src/config/paths.ts';
import { fakeIo } from '../support/io.ts';
import { unixOnlySuite } from '../support/platform.ts';

const HOME = '/home/demo';
const OF_HOME = {
  config: '/home/demo/.config/imgctl',
  state: '/home/demo/.local/state/imgctl',
  cache: '/home/demo/.cache/imgctl',
};
const XDG = { XDG_CONFIG_HOME: '/c', XDG_STATE_HOME: '/s', XDG_CACHE_HOME: '/k' };
const OF_XDG = { config: '/c/imgctl', state: '/s/imgctl', cache: '/k/imgctl' };
const all = (folder?: string) => ({ config: folder, state: folder, cache: folder });

unixOnlySuite('paths are written for Unix')('findPaths', () => {
  it.each([
    ['HOME before APPDATA on Linux', { HOME, APPDATA: '/appdata' }, OF_HOME],
    ['USERPROFILE', { USERPROFILE: HOME }, OF_HOME],
    ['the XDG variables', { HOME, ...XDG }, OF_XDG],
    ['the XDG variables without a home', XDG, OF_XDG],
    ['HOME if others are empty', { HOME, IMGCTL_CONFIG_DIR: '', XDG_CONFIG_HOME: '' }, OF_HOME],
    ['HOME if others are relative', { HOME, XDG_CONFIG_HOME: 'c', XDG_STATE_HOME: './s' }, OF_HOME],
    ['IMGCTL_CONFIG_DIR before all others', { ...XDG, IMGCTL_CONFIG_DIR: '/own' }, all('/own')],
    ['a relative IMGCTL_CONFIG_DIR', { IMGCTL_CONFIG_DIR: 'own' }, all('/work/own')],
    [
      'an IMGCTL_CONFIG_DIR below the home',
      { HOME, IMGCTL_CONFIG_DIR: '~/own' },
      all(`${HOME}/own`),
    ],
    ['no variable', {}, all()],
    ['a relative home', { HOME: 'home' }, all()],
  ])('uses %s', (_what, env, paths) => {
    expect(findPaths(fakeIo({ env, cwd: '/work' }))).toEqual(paths);
  });

  it('uses APPDATA and, for the cache, LOCALAPPDATA on Windows', () => {
    const paths = { config: '/appdata/imgctl', state: '/appdata/imgctl', cache: '/local/imgctl' };
    const env = { HOME, APPDATA: '/appdata', LOCALAPPDATA: '/local' };
    expect(findPaths(fakeIo({ env, cwd: '/work', platform: 'win32' }))).toEqual(paths);
  });
});
