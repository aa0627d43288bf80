// Published descriptors of eight projects: what is read from them, beside the facts of an independent reader.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { ReadPackage } from '../../src/ovf/package.ts';
import { FIXTURES } from '../support/files.ts';
import { member, readFolder } from './harness.ts';

const FOLDER = path.join(FIXTURES, '../published');

type Disk = readonly [string, number | null, string | null, string | null];

interface Facts {
  readonly disks: readonly Disk[];
  readonly networks: readonly string[];
  readonly options: readonly (readonly [string, string | null])[];
  readonly products: readonly (readonly (string | number | null)[])[];
  readonly systems: readonly Record<string, string | number | null>[];
}

const readJson = (): Record<string, Facts> =>
  JSON.parse(readFileSync(path.join(FOLDER, 'facts.json'), 'utf8'));
// A suite without tests would be an error.
const NAMES = existsSync(FOLDER) ? Object.keys(readJson()) : ['none'];

function factsOf({ disks, networks, deploymentOptions, products, systems }: ReadPackage) {
  return {
    disks: disks.map(({ id, capacity, format, file }) => [id, capacity, format, file]),
    networks: networks.map(({ name }) => name),
    options: deploymentOptions.map(({ id }) => id),
    products: products.map((each) => [
      ...[each.product, each.vendor, each.version, each.fullVersion, each.properties],
    ]),
    systems: systems.map(({ id, name, operatingSystem: os, hardware, hardwareFamilies }) => {
      const { cpus: cpu, memory: mem, disks, networks } = hardware;
      const fam = hardwareFamilies.join(' ') || null;
      return { id, name, os, cpu, mem, nd: disks.length, nn: networks.length, fam };
    }),
  };
}

/** The other reader takes memory without a unit as bytes. */
const OTHERWISE: Readonly<Record<string, number>> = {
  'govmomi/invalid-property-key.ovf': 512 * 2 ** 20,
};

it.skipIf(!existsSync(FOLDER)).each(NAMES)(
  'a published descriptor has the facts that another reader found: %s (only with ../shared/fixtures)',
  async (name) => {
    const { [name]: facts } = readJson();
    const xml = readFileSync(path.join(FOLDER, name));
    const summary = await readFolder([member('vm.ovf', xml)]);
    const expected = {
      ...facts,
      options: facts?.options.map(([id]) => id),
      systems: facts?.systems.map((system) => {
        return { ...system, mem: OTHERWISE[name] ?? system.mem };
      }),
    };
    expect(factsOf(summary)).toEqual({ ...factsOf(summary), ...expected, origin: undefined });
  },
);
