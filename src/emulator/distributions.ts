// The distributions in the catalogue: their file names, variants and releases.

/** A version and the days of its first and last build. */
export type Release = readonly [version: string, first: string, last: string];

interface Distribution {
  readonly folder: string;
  readonly fileName: (version: string, variant: string, build: string) => string;
  readonly variants: readonly string[];
  readonly releases: readonly Release[];
}

export const DISTRIBUTIONS: readonly Distribution[] = [
  {
    folder: 'almalinux',
    fileName: (version, variant, build) => `AlmaLinux-${version}-${variant}-${build}.x86_64.ova`,
    variants: ['GenericCloud', 'OpenNebula'],
    releases: [
      ['8.8', '2023-05-18', '2023-11-20'],
      ['8.10', '2024-05-28', '2025-06-20'],
      ['9.3', '2023-11-13', '2024-05-06'],
      ['9.5', '2024-11-18', '2025-05-20'],
    ],
  },
  {
    folder: 'alpine',
    fileName: (version, variant, build) => `alpine-${variant}-${version}-x86_64-${build}.ova`,
    variants: ['virt'],
    releases: [
      ['3.17', '2022-11-22', '2024-11-12'],
      ['3.19', '2023-12-07', '2025-05-30'],
      ['3.21', '2024-12-05', '2025-06-25'],
    ],
  },
  {
    folder: 'centos',
    fileName: (version, variant, build) =>
      `CentOS-Stream-${variant}-${version}-${build}.x86_64.ova`,
    variants: ['GenericCloud'],
    releases: [
      ['8', '2020-01-13', '2024-05-27'],
      ['9', '2021-12-03', '2025-06-23'],
      ['10', '2024-12-12', '2025-06-24'],
    ],
  },
  {
    folder: 'debian',
    fileName: (version, variant, build) => `debian-${version}-${variant}-amd64-${build}.ova`,
    variants: ['genericcloud', 'generic', 'nocloud'],
    releases: [
      ['10', '2019-07-06', '2024-06-24'],
      ['11', '2021-08-14', '2025-06-10'],
      ['12', '2023-06-10', '2025-06-23'],
    ],
  },
  {
    folder: 'fedora',
    fileName: (version, variant, build) =>
      `Fedora-Cloud-Base-${variant}-${version}-${build}.x86_64.ova`,
    variants: ['Generic', 'VMware'],
    releases: [
      ['38', '2023-04-18', '2024-05-21'],
      ['39', '2023-11-07', '2024-11-26'],
      ['40', '2024-04-23', '2025-05-13'],
      ['41', '2024-10-29', '2025-06-24'],
    ],
  },
  {
    folder: 'fedora-coreos',
    fileName: (version, variant, build) =>
      `fedora-coreos-${version}.${build}-${variant}-vmware.x86_64.ova`,
    variants: ['stable', 'testing', 'next'],
    releases: [
      ['36', '2022-05-10', '2022-11-28'],
      ['38', '2023-04-22', '2023-11-20'],
      ['40', '2024-05-07', '2024-11-18'],
    ],
  },
  {
    folder: 'freebsd',
    fileName: (version, variant, build) => `FreeBSD-${version}-${variant}-amd64-${build}.ova`,
    variants: ['RELEASE', 'STABLE'],
    releases: [
      ['12.4', '2022-12-05', '2023-12-29'],
      ['13.3', '2024-03-05', '2024-12-30'],
      ['14.1', '2024-06-04', '2025-03-28'],
    ],
  },
  {
    folder: 'opensuse',
    fileName: (version, variant, build) =>
      `openSUSE-Leap-${version}-Minimal-VM.x86_64-${variant}-Build${build}.ova`,
    variants: ['VMware', 'Cloud'],
    releases: [
      ['15.4', '2022-06-08', '2023-12-07'],
      ['15.5', '2023-06-07', '2024-12-30'],
      ['15.6', '2024-06-12', '2025-06-20'],
    ],
  },
  {
    folder: 'oraclelinux',
    fileName: (version, variant, build) => `OL${version}-${variant}-x86_64-${build}.ova`,
    variants: ['olvm'],
    releases: [
      ['8U9', '2023-11-21', '2024-05-29'],
      ['9U3', '2023-11-20', '2024-05-06'],
      ['9U5', '2024-11-19', '2025-05-21'],
    ],
  },
  {
    folder: 'photon',
    fileName: (version, variant, build) => `photon-${variant}-${version}-${build}.ova`,
    variants: ['hw11', 'hw13', 'hw15'],
    releases: [
      ['3.0', '2019-02-07', '2023-12-18'],
      ['4.0', '2021-02-25', '2025-02-10'],
      ['5.0', '2023-04-29', '2025-06-16'],
    ],
  },
  {
    folder: 'rocky',
    fileName: (version, variant, build) => `Rocky-${version}-${variant}-${build}.x86_64.ova`,
    variants: ['GenericCloud-Base', 'GenericCloud-LVM'],
    releases: [
      ['8.9', '2023-11-22', '2024-05-28'],
      ['8.10', '2024-05-30', '2025-05-29'],
      ['9.3', '2023-11-20', '2024-05-07'],
      ['9.5', '2024-11-19', '2025-05-30'],
    ],
  },
  {
    folder: 'ubuntu',
    fileName: (version, variant, build) =>
      `ubuntu-${version}-${variant}-cloudimg-amd64-${build}.ova`,
    variants: ['server', 'minimal'],
    releases: [
      ['16.04', '2016-04-21', '2021-04-30'],
      ['18.04', '2018-04-26', '2023-05-31'],
      ['20.04', '2020-04-23', '2025-05-29'],
      ['22.04', '2022-04-21', '2025-06-26'],
      ['24.04', '2024-04-25', '2025-06-27'],
    ],
  },
];
