// Units of capacity and memory in OVF.

import { describe, expect, it } from 'vitest';
import { bytesPerUnit } from '../../src/ovf/elements.ts';
import { rows } from '../support/rows.ts';

describe('bytesPerUnit', () => {
  it.each([
    ...rows(1, null, '', 'byte', 'bytes'),
    ...rows(1024, 'byte * 2^10', 'KiloByte', 'KB'),
    ...rows(1024 ** 2, 'byte * 2^20', 'byte * 1024 * 2^10', 'MegaBytes', 'MB', ' mb '),
    ...rows(1024 ** 3, 'byte*2^30', 'gigabytes', 'GiB'),
    ...rows(1024 ** 4, 'byte * 2 ^ 40', 'TB'),
    ...rows(1_000_000_000, 'byte * 10^9'),
    ...rows(null, 'hertz * 10^6', 'byte * 2^99', 'byte * x', 'byte / 2', 'bit', 'constructor'),
  ])('of %j is %s', (unit, bytes) => {
    expect(bytesPerUnit(unit)).toBe(bytes);
  });
});
