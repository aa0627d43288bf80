// The time zone that TZ names, beside that of date(1).

import { execFileSync } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { zoneName } from '../src/zone.ts';
import { temporaryDirectory } from './support/io.ts';
import { skipped } from './support/requirements.ts';

const ZONES = '/usr/share/zoneinfo';
const reason = existsSync(`${ZONES}/Asia/Kolkata`) ? '' : 'tzdata is not installed';

afterEach(() => void vi.unstubAllEnvs());

describe.skipIf(reason)(`zoneName${skipped(reason)}`, () => {
  it.each([
    ...['', ':', ':Europe/Berlin', 'posix/Asia/Tokyo', 'EST5EDT'],
    ...[':/etc/localtime', `${ZONES}/Europe/Berlin`, ':FOLDER/link'],
  ])('returns for %s the zone that date takes', (form) => {
    const folder = temporaryDirectory();
    symlinkSync(`${ZONES}/America/New_York`, path.join(folder, 'link'));
    const tz = form.replace('FOLDER', folder);
    const times = ['2024-01-15T22:13:00Z', '2024-07-15T22:13:00Z'];
    const env = { ...process.env, TZ: tz };
    const known = times.map((time) =>
      execFileSync('date', ['-d', time, '+%F %T'], { env, encoding: 'utf8' }).trim(),
    );
    vi.stubEnv('TZ', zoneName(tz));
    expect(times.map((time) => new Date(time).toLocaleString('sv'))).toEqual(known);
  });

  it.each([
    'IST-5:30',
    'UTC0',
    'JST-9',
    '<+03>-3',
    'EST5EDT,M3.2.0,M11.1.0',
    'CET-1CEST,M3.5.0,M10.5.0/3',
    'Europe/Nowhere',
    '/etc/passwd',
    '+05:30',
  ])('returns undefined for %s', (form) => {
    expect(zoneName(form)).toBeUndefined();
  });
});
