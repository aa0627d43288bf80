// The schemas of inspect and validate.

import { anyOf, listOf, record, type Schema, value, word } from './schema.ts';

const FINDING = {
  severity: word(['error', 'warning'], 'an error makes the package invalid'),
  code: value('string', 'stable code of the finding'),
  place: value('string', 'where in the package it was found'),
  message: value('string', 'what is wrong'),
};

export const FINDINGS = listOf(record({ file: value('string', 'path as given'), ...FINDING }));

const names = (description: string) => listOf(value(['string', 'null'], 'name'), description);

const HARDWARE: Schema = record(
  {
    cpus: value(['integer', 'null'], 'number of virtual CPUs'),
    memory: value(['number', 'null'], 'bytes'),
    disks: names('the disk of each hard disk; null if it names none'),
    networks: names('the network of each adapter; null if it names none'),
  },
  'virtual hardware',
);

const text = (description: string) => value(['string', 'null'], description);

const PACKAGE: Schema = record({
  kind: word(['ova', 'ovf'], 'archive, or descriptor with its files'),
  file: value('string', 'path as given'),
  ovf_version: text('version of OVF; null if there is no readable descriptor'),
  products: listOf(
    record({
      product: text('name of the product'),
      vendor: text('vendor of the product'),
      version: text('short version'),
      full_version: text('full version'),
      properties: value('integer', 'number of properties'),
    }),
    'products in the package',
  ),
  systems: listOf(
    record({
      id: text('identifier of the system'),
      name: text('name of the system'),
      collections: names('collections around the system, outermost first'),
      operating_system: text('guest operating system'),
      hardware_families: names('virtual hardware such as vmx-08'),
      hardware: HARDWARE,
      options: listOf(
        record({ option: value('string', 'deployment option'), hardware: HARDWARE }),
        'hardware of each deployment option',
      ),
    }),
    'virtual machines in the package',
  ),
  disks: listOf(
    record({
      id: value('string', 'identifier of the disk'),
      capacity: value(['number', 'null'], 'bytes'),
      format: text('URI of the format'),
      file: text('file of the disk; null for an empty disk'),
    }),
    'virtual disks',
  ),
  networks: listOf(
    record({ name: value('string', 'name of the network'), description: text('description') }),
    'networks',
  ),
  deployment_options: listOf(
    record({
      id: value('string', 'identifier of the option'),
      label: text('label'),
      description: text('description'),
      default: value('boolean', 'true if it is the default'),
    }),
    'deployment options',
  ),
  files: listOf(
    record({
      name: value('string', 'file name'),
      size: value('integer', 'bytes'),
      role: word(['descriptor', 'manifest', 'certificate', 'referenced', 'other'], 'role'),
    }),
    'files of the package, the descriptor first',
  ),
  manifest: {
    ...record({
      algorithm: text('algorithm of the first entry'),
      entries: listOf(
        record({
          name: value('string', 'file name'),
          algorithm: word(['SHA1', 'SHA256', 'SHA512'], 'algorithm of the digest'),
          digest: value('string', 'lower-case hexadecimal'),
        }),
        'digests',
      ),
    }),
    type: ['object', 'null'],
    description: 'manifest; null if there is none',
  },
  certificate: text('file name of the certificate'),
  findings: listOf(record(FINDING), 'findings without digests'),
});

export const PACKAGES = anyOf(PACKAGE, listOf(PACKAGE));
