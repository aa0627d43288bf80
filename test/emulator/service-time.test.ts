// The emulator's timestamps, compared with the time zone data of the system.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { serviceTimestamp } from '../../src/emulator/service-time.ts';
import { parseTimestamp } from '../../src/query/timestamp.ts';

/** Whole seconds from the start of the present rule to 2100. */
const instants = fc
  .integer({ min: Date.UTC(2008, 0, 1) / 1000, max: Date.UTC(2100, 0, 1) / 1000 })
  .map((seconds) => seconds * 1000);

const newYork = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  hourCycle: 'h23',
  ...{ year: 'numeric', month: '2-digit', day: '2-digit', weekday: 'short' },
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', timeZoneName: 'short' },
});

function expectedText(instant: number): string {
  const part = Object.fromEntries(
    newYork.formatToParts(instant).map(({ type, value }) => [type, value]),
  );
  return `${part.year}-${part.month}-${part.day} ${part.weekday} ${part.hour}:${part.minute}:${part.second} ${part.timeZoneName}`;
}

describe('serviceTimestamp', () => {
  it.each([
    ['2018-07-18T19:36:49Z', '2018-07-18 Wed 15:36:49 EDT'],
    ['2024-03-10T06:59:59Z', '2024-03-10 Sun 01:59:59 EST'],
    ['2024-03-10T07:00:00Z', '2024-03-10 Sun 03:00:00 EDT'],
    ['2024-11-03T05:59:59Z', '2024-11-03 Sun 01:59:59 EDT'],
    ['2024-11-03T06:00:00Z', '2024-11-03 Sun 01:00:00 EST'],
    ['2025-01-01T04:59:59Z', '2024-12-31 Tue 23:59:59 EST'],
  ])('formats %s as %s', (iso, text) => {
    expect(serviceTimestamp(Date.parse(iso))).toBe(text);
  });

  it('agrees with the time zone data of the system', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(serviceTimestamp(instant)).toBe(expectedText(instant));
      }),
    );
  });

  it('is parsed by the client to the same instant', () => {
    fc.assert(
      fc.property(instants, (instant) => {
        expect(parseTimestamp(serviceTimestamp(instant))).toBe(instant);
      }),
    );
  });
});
