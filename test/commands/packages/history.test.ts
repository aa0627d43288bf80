// The history of sync requests: limited, shared by processes, and optional.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  entriesOf,
  type HistoryEntry,
  storeEntry,
} from '../../../src/commands/packages/sync/history.ts';
import { fakeIo, impatientIo, temporaryDirectory } from '../../support/io.ts';

const BASE_URL = 'https://images.example';

function entry(id: number | string, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  const submitted_on = '2025-01-15T12:00:00Z';
  const times = { submitted_on, checked_on: submitted_on };
  return { profile: 'a', base_url: BASE_URL, id, ...times, status: null, ...changes };
}

const ids = (directory: string) => entriesOf(directory, 'a', BASE_URL).map(({ id }) => id);

describe('the sync history', () => {
  it('returns the requests of one profile and service, oldest first, with their last status', async () => {
    const directory = temporaryDirectory();
    const others = [entry(3, { profile: 'b' }), entry(4, { base_url: 'https://other.example' })];
    // The id may have another type.
    const later = entry('2', { status: 'PROCESSED', submitted_on: '2030-01-01T00:00:00Z' });
    for (const one of [entry(2), entry(1), ...others])
      await storeEntry(directory, fakeIo(), 'submitted', one);
    // One that is not in the history was submitted elsewhere.
    for (const one of [later, entry(5)]) await storeEntry(directory, fakeIo(), 'checked', one);
    const expected = [entry(2, { status: 'PROCESSED' }), entry(1)];
    expect(entriesOf(directory, 'a', BASE_URL)).toEqual(expected);
  });

  it('replaces an older request with the id of a new one, which is the last', async () => {
    const directory = temporaryDirectory();
    const anew = entry('7', { submitted_on: '2030-01-01T00:00:00Z' });
    for (const one of [entry(7, { status: 'PROCESSED' }), entry(8)])
      await storeEntry(directory, fakeIo(), 'submitted', one);
    await storeEntry(directory, fakeIo(), 'submitted', anew);
    expect(entriesOf(directory, 'a', BASE_URL)).toEqual([entry(8), anew]);
    await storeEntry(directory, fakeIo(), 'checked', entry(7, { status: 'ERROR' }));
    expect(entriesOf(directory, 'a', BASE_URL).at(-1)).toEqual({ ...anew, status: 'ERROR' });
  });

  it('stores the last 400 requests, also of many that are written at the same time', async () => {
    const directory = temporaryDirectory();
    const requests = Array.from({ length: 405 }, (_, id) => entry(id));
    writeFileSync(path.join(directory, 'sync-history.json'), JSON.stringify({ requests }));
    const io = impatientIo();
    const added = Array.from({ length: 10 }, (_, index) => `new ${index}`);
    await Promise.all(added.map((id) => storeEntry(directory, io, 'submitted', entry(id))));
    expect([ids(directory).length, ids(directory)[0]]).toEqual([400, 15]);
    expect(ids(directory).slice(-10).sort()).toEqual(added);
  });

  it('ignores invalid entries, and fails and is not overwritten if it is unreadable or has a key twice', async () => {
    const directory = temporaryDirectory();
    const file = path.join(directory, 'sync-history.json');
    const requests = [null, 'x', { id: 1 }, { ...entry(3), status: 7 }, entry(2)];
    writeFileSync(file, JSON.stringify({ requests }));
    expect(ids(directory)).toEqual([2]);
    for (const text of ['{"requests": [', '{"requests": [1], "requests": []}']) {
      writeFileSync(file, text);
      const error = expect.objectContaining({ code: 'config' });
      expect(() => ids(directory)).toThrow(error);
      await expect(storeEntry(directory, fakeIo(), 'checked', entry(1))).rejects.toEqual(error);
      expect(readFileSync(file, 'utf8')).toBe(text);
    }
  });
});
