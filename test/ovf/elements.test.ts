// Units of capacity and memory in OVF.

import { describe, expect, it } from 'vitest';
import { bytesPerUnit } from '../../src/ovf/elements.ts';

describe('bytesPerUnit', () => {
  it.each([
    [null, 1],
    ['', 1],
    ['byte', 1],
    ['bytes', 1],
    ['byte * 2^10', 1024],
    ['byte * 2^20', 1024 ** 2],
    ['byte*2^30', 1024 ** 3],
    ['byte * 2 ^ 40', 1024 ** 4],
    ['byte * 10^9', 1_000_000_000],
    ['byte * 1024 * 2^10', 1024 ** 2],
    ['MegaBytes', 1024 ** 2],
    ['KiloByte', 1024],
    ['gigabytes', 1024 ** 3],
    ['KB', 1024],
    ['MB', 1024 ** 2],
    ['GiB', 1024 ** 3],
    ['TB', 1024 ** 4],
    [' mb ', 1024 ** 2],
    ['hertz * 10^6', null],
    ['byte * 2^99', null],
    ['byte * x', null],
    ['byte / 2', null],
    ['bit', null],
    ['constructor', null],
  ])('of %j is %s', (unit, bytes) => {
    expect(bytesPerUnit(unit)).toBe(bytes);
  });
});
