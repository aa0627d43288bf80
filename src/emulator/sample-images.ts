// Makes up the public catalogue: the same count, seed and last day always give the same images.

import type { Image } from '../api/types.ts';

/** Folder, file name and variants of each distribution, and its releases with their dates. */
const DISTRIBUTIONS = `
almalinux: AlmaLinux-VERSION-VARIANT-BUILD.x86_64.ova: GenericCloud OpenNebula
  8.8 2023-05-18 2023-11-20
  8.10 2024-05-28 2025-06-20
  9.3 2023-11-13 2024-05-06
  9.5 2024-11-18 2025-05-20
alpine: alpine-VARIANT-VERSION-x86_64-BUILD.ova: virt
  3.17 2022-11-22 2024-11-12
  3.19 2023-12-07 2025-05-30
  3.21 2024-12-05 2025-06-25
centos: CentOS-Stream-VARIANT-VERSION-BUILD.x86_64.ova: GenericCloud
  8 2020-01-13 2024-05-27
  9 2021-12-03 2025-06-23
  10 2024-12-12 2025-06-24
debian: debian-VERSION-VARIANT-amd64-BUILD.ova: genericcloud generic nocloud
  10 2019-07-06 2024-06-24
  11 2021-08-14 2025-06-10
  12 2023-06-10 2025-06-23
fedora: Fedora-Cloud-Base-VARIANT-VERSION-BUILD.x86_64.ova: Generic VMware
  38 2023-04-18 2024-05-21
  39 2023-11-07 2024-11-26
  40 2024-04-23 2025-05-13
  41 2024-10-29 2025-06-24
fedora-coreos: fedora-coreos-VERSION.BUILD-VARIANT-vmware.x86_64.ova: stable testing next
  36 2022-05-10 2022-11-28
  38 2023-04-22 2023-11-20
  40 2024-05-07 2024-11-18
freebsd: FreeBSD-VERSION-VARIANT-amd64-BUILD.ova: RELEASE STABLE
  12.4 2022-12-05 2023-12-29
  13.3 2024-03-05 2024-12-30
  14.1 2024-06-04 2025-03-28
opensuse: openSUSE-Leap-VERSION-Minimal-VM.x86_64-VARIANT-BuildBUILD.ova: VMware Cloud
  15.4 2022-06-08 2023-12-07
  15.5 2023-06-07 2024-12-30
  15.6 2024-06-12 2025-06-20
oraclelinux: OLVERSION-VARIANT-x86_64-BUILD.ova: olvm
  8U9 2023-11-21 2024-05-29
  9U3 2023-11-20 2024-05-06
  9U5 2024-11-19 2025-05-21
photon: photon-VARIANT-VERSION-BUILD.ova: hw11 hw13 hw15
  3.0 2019-02-07 2023-12-18
  4.0 2021-02-25 2025-02-10
  5.0 2023-04-29 2025-06-16
rocky: Rocky-VERSION-VARIANT-BUILD.x86_64.ova: GenericCloud-Base GenericCloud-LVM
  8.9 2023-11-22 2024-05-28
  8.10 2024-05-30 2025-05-29
  9.3 2023-11-20 2024-05-07
  9.5 2024-11-19 2025-05-30
ubuntu: ubuntu-VERSION-VARIANT-cloudimg-amd64-BUILD.ova: server minimal
  16.04 2016-04-21 2021-04-30
  18.04 2018-04-26 2023-05-31
  20.04 2020-04-23 2025-05-29
  22.04 2022-04-21 2025-06-26
  24.04 2024-04-25 2025-06-27
`;

function parseSeries() {
  let [folder = '', fileName = '', variants = ''] = [];
  return DISTRIBUTIONS.trim()
    .split('\n')
    .flatMap((line) => {
      if (!line.startsWith(' ')) {
        [folder = '', fileName = '', variants = ''] = line.split(': ');
        return [];
      }
      const [version = '', first = '', last = ''] = line.trim().split(' ');
      return variants.split(' ').map((variant) => ({
        folder,
        /** With BUILD in place of the build. */
        fileName: fileName.replace('VERSION', version).replace('VARIANT', variant),
        /** Days of the first and the last build, in milliseconds since the epoch. */
        first: Date.parse(first),
        last: Date.parse(last),
      }));
    });
}

interface ImageFile {
  readonly name: string;
  readonly folder: string | null;
  readonly dataStore: string;
  readonly created: number;
  readonly updated: number;
}

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const DAY = 86_400 * SECOND;
/** Builds are added between 9 and 21 UTC, which is the same day in Eastern time. */
const MORNING = 9 * HOUR;
const FIRST_ID = 1000;
/** The last day of the declared releases; a catalogue that ends on another day moves them all. */
const DECLARED_END = Date.UTC(2025, 6, 31);
/** One image in 40 is an archived copy of another: names alone are not unique. */
const ARCHIVED_ONE_IN = 40;
const UNFILED_ONE_IN = 50;

/**
 * Returns `count` images with ascending ids, oldest first.
 * @param until an instant of the day at whose start, in UTC, the newest image was updated
 */
export function sampleImages(count: number, seed: number, until: number): Image[] {
  const randomBelow = seededRandom(seed);
  const end = Math.floor(until / DAY) * DAY;
  const copies = Math.floor(count / ARCHIVED_ONE_IN);
  const originals = originalFiles(count - copies, end, randomBelow);
  const archived = originals
    .filter((_, index) => index % (ARCHIVED_ONE_IN - 1) === 0)
    .slice(0, copies)
    .map((original) => {
      const created = original.created + (1 + randomBelow(30)) * DAY;
      return { ...original, folder: 'archive', dataStore: 'archive-01', created, updated: created };
    });
  const files = [...originals, ...archived].sort((a, b) => a.created - b.created);
  const newest = files.reduce((last, file) => Math.max(last, file.updated), 0);
  let id = FIRST_ID;
  return files.map((file) => {
    id += 1 + randomBelow(3);
    return toImage(id, file.updated === newest ? { ...file, updated: end } : file);
  });
}

function originalFiles(
  count: number,
  end: number,
  randomBelow: (limit: number) => number,
): ImageFile[] {
  const shuffled = parseSeries()
    .map((series) => ({ ...series, place: randomBelow(2 ** 31) }))
    .sort((a, b) => a.place - b.place);
  return shuffled.flatMap(({ folder, fileName, first, last }, index) => {
    const builds = Math.floor((count + shuffled.length - 1 - index) / shuffled.length);
    const days = (last - first) / DAY;
    const offsets = Array.from({ length: builds }, (_, build) =>
      Math.floor((days * (build + randomBelow(100) / 100)) / builds),
    );
    let [day, date, serial] = [0, '', 0];
    return offsets.map((offset) => {
      const next = first + end - DECLARED_END + offset * DAY;
      // Further builds of a day are numbered.
      serial = next === day ? serial + 1 : 0;
      if (serial === 0) date = new Date(next).toISOString().slice(0, 10).replaceAll('-', '');
      day = next;
      const created = day + MORNING + randomBelow(DAY / 2 / SECOND) * SECOND;
      const maxDelay = Math.min(300 * DAY, end - created);
      const delay = randomBelow(2) * randomBelow(maxDelay / SECOND) * SECOND;
      return {
        name: fileName.replace('BUILD', serial === 0 ? date : `${date}.${serial}`),
        folder: randomBelow(UNFILED_ONE_IN) === 0 ? null : folder,
        dataStore: `images-0${1 + randomBelow(3)}`,
        created,
        updated: created + delay,
      };
    });
  });
}

/** @param isPublic false for an image of a user */
export function toImage(id: number, file: ImageFile, isPublic = true): Image {
  const { name, folder, dataStore, created, updated } = file;
  const label = folder === null ? name : `${folder}/${name}`;
  return {
    id,
    name,
    path: `[${dataStore}] ${label}`,
    label,
    folder,
    data_store: dataStore,
    public: isPublic,
    created_on: serviceTimestamp(created),
    updated_on: serviceTimestamp(updated),
  };
}

/** A 32-bit xorshift generator: the same seed gives the same numbers on every machine. */
function seededRandom(seed: number): (limit: number) => number {
  // Spreads neighbouring seeds apart and avoids 0, which xorshift never leaves.
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bf03635) >>> 0 || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** Formats epoch milliseconds as the service does: `2018-07-18 Wed 15:36:49 EDT`. */
export function serviceTimestamp(instant: number): string {
  const zone = EASTERN.format(instant).slice(-3);
  const local = new Date(instant - (zone === 'EDT' ? 4 : 5) * HOUR);
  const [day, time] = local.toISOString().split(/[T.]/);
  return `${day} ${WEEKDAYS[local.getUTCDay()]} ${time} ${zone}`;
}

/** Its texts end with the abbreviation of the zone. */
const EASTERN = new Intl.DateTimeFormat('en-US', {
  timeZone: 'America/New_York',
  timeZoneName: 'short',
});
