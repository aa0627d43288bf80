// Disks without room, for tests of what a run leaves on them.

import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { skipped } from '../support/requirements.ts';

export interface Disk {
  readonly title: string;
  /** Shell commands that limit the program. */
  readonly prelude?: string;
  readonly skipped?: boolean;
  readonly folder: () => string;
  /** Fills the disk of the folder. */
  readonly fill: (folder: string) => void;
}

const mount = (folder: string, size: string) =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0;
const unmount = (folder: string) => spawnSync('umount', ['-l', folder]);

function mayMount(): boolean {
  const folder = mkdtempSync(path.join(tmpdir(), 'imgctl-mount-'));
  const isMounted = mount(folder, '64k');
  if (isMounted) unmount(folder);
  rmSync(folder, { recursive: true });
  return isMounted;
}

/** Why no tmpfs can be mounted, or empty. */
export const NO_TMPFS = mayMount() ? '' : 'no right to mount a tmpfs';

/** Mounts a tmpfs of this size for the running test, and returns its folder. */
export function mountTmpfs(size: string, folder = temporaryDirectory()): string {
  if (!mount(folder, size)) throw new Error('cannot mount a tmpfs');
  onTestFinished(() => void unmount(folder));
  return folder;
}

/** Each disk has room until it is filled. */
export const DISKS: readonly Disk[] = [
  {
    title: `a full tmpfs of 64 KiB${skipped(NO_TMPFS)}`,
    skipped: NO_TMPFS !== '',
    folder: () => mountTmpfs('64k'),
    fill: (folder) => {
      const filler = path.join(folder, 'filler');
      expect(() => {
        for (;;) appendFileSync(filler, Buffer.alloc(512));
      }).toThrow('ENOSPC');
    },
  },
  {
    title: 'a limit of 0 bytes for files',
    prelude: 'ulimit -f 0',
    folder: temporaryDirectory,
    fill: () => {},
  },
];
