// Staging files of writers that were killed: removed by later runs, and nobody else's.

import { readdirSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeJsonFile } from '../../src/files/json-file.ts';
import { sweep, writerOf } from '../../src/files/staging.ts';
import { temporaryDirectory } from '../support/io.ts';

describe('leftovers of killed writers', () => {
  // Above what any system gives to a process.
  const DEAD = 2 ** 30;
  const LONG_AGO = Date.now() / 1000 - 3600;
  const leave = (directory: string, name: string) => {
    const file = path.join(directory, name);
    writeFileSync(file, 'secret');
    return file;
  };

  it('go with the next write, those of the libraries too', async () => {
    const directory = temporaryDirectory();
    leave(directory, `.token.json.${writerOf(DEAD)}.abcdef.new`);
    leave(directory, `.token.json.${writerOf(DEAD)}.abcdef.new.tmp-1234567890abcdef`);
    await writeJsonFile(path.join(directory, 'token.json'), {});
    expect(readdirSync(directory)).toEqual(['token.json']);
  });

  it('go though the library has cut their name', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, `${'p'.repeat(64)}.0123456789abcdef.json`);
    const longest = `.${path.basename(file)}.${writerOf(4_194_304)}.0123456789ab.new.tmp-1234567890abcdef`;
    // So that of the longest name no more than the random digits goes.
    expect(longest.length - '0123456789ab'.length).toBeLessThanOrEqual(128);
    leave(directory, `.${path.basename(file)}.${writerOf(DEAD)}..new.tmp-1234567890abcdef`);
    sweep(file);
    expect(readdirSync(directory)).toEqual([]);
  });

  it.each([
    ['their writer lives', writerOf(process.pid)],
    ['they are fresh and their writer is a process of another machine', `${DEAD}@elsewhere`],
  ])('stay while %s, but not for ever', (_while, writer) => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'token.json');
    const staging = leave(directory, `.token.json.${writer}.abcdef.new`);
    sweep(file);
    expect(readdirSync(directory)).toHaveLength(1);
    utimesSync(staging, LONG_AGO, LONG_AGO);
    sweep(file);
    expect(readdirSync(directory)).toEqual([]);
  });

  it('are told from the files of others', () => {
    const directory = temporaryDirectory();
    leave(directory, `.token.json.${writerOf(DEAD)}.backup`);
    leave(directory, `.other.json.${writerOf(DEAD)}.abcdef.new`);
    leave(directory, 'token.json.new');
    sweep(path.join(directory, 'token.json'));
    expect(readdirSync(directory)).toHaveLength(3);
  });
});
