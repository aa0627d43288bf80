// Fetches packages that only some tools need from the npm registry and caches them in .cache.

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './release.mjs';
import { run } from './run.mjs';

const CACHE = join(ROOT, '.cache');

/**
 * Returns the folder of a package. For a version range, this is the newest version at the time of the first fetch.
 * npm checks the integrity that the registry announces; `integrity` also pins it to known content.
 */
export function fetchPackage(name, version, { integrity } = {}) {
  const place = join(CACHE, `${name}-${version}`);
  const folder = join(place, 'node_modules', name);
  if (!existsSync(folder)) install(place, `${name}@${version}`);
  const lock = JSON.parse(readFileSync(join(place, 'node_modules/.package-lock.json'), 'utf8'));
  const found = lock.packages[`node_modules/${name}`].integrity;
  if (integrity !== undefined && found !== integrity) {
    rmSync(place, { recursive: true });
    throw new Error(`${name}@${version} has the integrity ${found} instead of ${integrity}`);
  }
  return folder;
}

/** Returns the path of a Node. The version may be a major version such as '24'. */
export function fetchNode(version, { platform = ownPlatform(), integrity } = {}) {
  const folder = fetchPackage(`node-${platform}`, version, { integrity });
  return join(folder, 'bin', platform.startsWith('win-') ? 'node.exe' : 'node');
}

function ownPlatform() {
  return `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

function install(place, spec) {
  mkdirSync(place, { recursive: true });
  // --force also installs packages for other platforms.
  const options = ['--force', '--ignore-scripts', '--no-save', '--no-audit', '--loglevel=error'];
  try {
    run('npm', ['install', ...options, '--prefix', place, spec]);
  } catch (error) {
    rmSync(place, { recursive: true });
    throw error;
  }
}
