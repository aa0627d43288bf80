// Builds the container image of packaging/Containerfile, with labels from package.json.
// Usage: node tools/container.mjs [docker|podman]   (default: podman if installed, else docker)

import { spawnSync } from 'node:child_process';
import { MANIFEST, ROOT } from './release.mjs';
import { hasProgram } from './run.mjs';

const engine = process.argv[2] ?? ['podman', 'docker'].find(hasProgram);
if (!engine) throw new Error('neither podman nor docker is installed');
const { name, version, description, license } = MANIFEST;
const labels = Object.entries({ title: name, version, description, licenses: license }).flatMap(
  ([key, value]) => ['--label', `org.opencontainers.image.${key}=${value}`],
);
const tags = ['--tag', `${name}:${version}`, '--tag', `${name}:latest`];
const words = ['build', '--file', 'packaging/Containerfile', ...labels, ...tags, '.'];
const { status, error } = spawnSync(engine, words, { cwd: ROOT, stdio: 'inherit' });
if (error) throw error;
process.exitCode = status ?? 1;
