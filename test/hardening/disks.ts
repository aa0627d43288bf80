// Disks without room, for tests of what a run leaves on them.

import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';

interface Disk {
  readonly title: string;
  /** Shell commands that limit the program. */
  readonly prelude?: string;
  readonly skipped: boolean;
  readonly folder: () => string;
  /** Fills the disk of the folder. */
  readonly fill: (folder: string) => void;
}

/** Mounts a file system of 64 KiB. */
function mountSmall(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'imgctl-full-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  return folder;
}

function unmount(folder: string): void {
  execFileSync('umount', [folder]);
  rmSync(folder, { recursive: true });
}

function mayMount(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    unmount(mountSmall());
    return true;
  } catch {
    return false;
  }
}

/** Each disk has room until it is filled. */
export const DISKS: readonly Disk[] = [
  {
    title: 'a full tmpfs of 64 KiB (skipped without the right to mount)',
    skipped: !mayMount(),
    folder: () => {
      const folder = mountSmall();
      onTestFinished(() => unmount(folder));
      return folder;
    },
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
    skipped: false,
    folder: temporaryDirectory,
    fill: () => {},
  },
];
