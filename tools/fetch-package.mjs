// Fetches packages that only some tools need from the npm registry, and caches them in .cache.

import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './release.mjs';
import { run } from './run.mjs';

const CACHE = join(ROOT, '.cache');

/**
 * Returns the folder of a package by name and version; of a range, the newest version when it is fetched first.
 * npm verifies what the registry announces; `integrity` pins it to one known content.
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

/** Returns the path of a Node by version, or by line such as '24' (its newest version). */
export function fetchNode(version, { platform = ownPlatform(), integrity } = {}) {
  const folder = fetchPackage(`node-${platform}`, version, { integrity });
  return join(folder, 'bin', platform.startsWith('win-') ? 'node.exe' : 'node');
}

function ownPlatform() {
  return `${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
}

function install(place, spec) {
  mkdirSync(place, { recursive: true });
  // --force: also packages for another platform.
  const options = ['--force', '--ignore-scripts', '--no-save', '--no-audit', '--loglevel=error'];
  try {
    run('npm', ['install', ...options, '--prefix', place, spec]);
  } catch (error) {
    rmSync(place, { recursive: true });
    throw error;
  }
}
