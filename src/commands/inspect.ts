// imgctl inspect: shows the contents of local OVA and OVF packages.

import type { FieldDeclaration } from '../cli/declarations.ts';
import type { CommandSpec } from '../cli/spec.ts';
import type { Context } from '../context.ts';
import { ImgctlError } from '../errors.ts';
import { counted } from '../output/messages.ts';
import type { Row } from '../output/writers.ts';
import type {
  DeploymentOption,
  Hardware,
  PackageSummary,
  Product,
  VirtualSystem,
} from '../ovf/package.ts';
import { describeBytes, eachPackage, errorsOf, FILES, isFile, notAFile } from './packages.ts';

const FIELDS: readonly FieldDeclaration[] = [
  ['file', 'string', 'path as given'],
  ['kind', 'string', 'ova (archive) or ovf (descriptor with its files)'],
  ['ovf_version', 'string or null', 'version of OVF; null if there is no readable descriptor'],
  ['products', 'array', 'product, vendor, version, full_version, number of properties'],
  ['systems', 'array', 'virtual machines: id, name, operating_system, hardware and others'],
  ['disks', 'array', 'virtual disks: id, capacity in bytes, format, file'],
  ['networks', 'array', 'name and description'],
  ['deployment_options', 'array', 'id, label, description, default'],
  ['files', 'array', 'files of the package: name, size in bytes, role'],
  ['manifest', 'object or null', 'algorithm of the first entry, and the entries'],
  ['certificate', 'string or null', 'file name of the certificate'],
  ['findings', 'array', 'findings as of validate, without digests'],
];

const COLUMNS = FIELDS.map(([name]) => name);

export const inspect: CommandSpec = {
  name: 'inspect',
  summary: 'show the contents of a local OVA or OVF package',
  description: [
    'Shows products, systems with their hardware, disks, networks and files. Sends nothing. Sizes are in bytes in every format except tables. With -o json, one file prints one object; several files print an array. Does not check digests; use imgctl validate for that.',
  ],
  examples: [
    'imgctl inspect appliance.ova',
    "imgctl inspect appliance.ovf --json | jq '.systems[].hardware.memory'",
  ],
  seeAlso: ['validate'],
  arguments: [FILES],
  fields: FIELDS,
  exitCodes: [5],
  run,
};

async function run(context: Context, _options: object, files: readonly string[]): Promise<void> {
  const list = openPackageList(context, files.length === 1);
  const unreadable: string[] = [];
  const read = eachPackage(
    context,
    files,
    () => ({ digests: false }),
    async (summary) => {
      if (!isFile(summary)) throw notAFile(summary.file, 'inspect');
      await list.write(summary);
      const errors = errorsOf(summary).length;
      if (summary.ovfVersion === null) unreadable.push(summary.file);
      else if (errors > 0) {
        const hint = `see all findings with: imgctl validate ${summary.file}`;
        context.console.warn(`${summary.file} has ${counted(errors, 'error')}`, hint);
      }
    },
  );
  await read.finally(() => list.end());
  if (unreadable.length === 0) return;
  const verb = unreadable.length === 1 ? 'contains' : 'contain';
  const message = `${unreadable.join(', ')} ${verb} no readable OVF descriptor`;
  throw new ImgctlError('invalid-package', message, {
    hint: `see why with: imgctl validate ${unreadable.join(' ')}`,
  });
}

/** Prints packages as they are read: tables as records with blank lines between, a single package as a record. */
function openPackageList(context: Context, single: boolean) {
  const options = { columns: COLUMNS, idField: 'file' };
  const list = context.openList(COLUMNS, options);
  const asTable = context.format === 'table' && !context.quiet;
  let gap = '';
  return {
    async write(summary: PackageSummary): Promise<void> {
      if (asTable) {
        // The record would be empty, and the error names the file.
        if (summary.ovfVersion === null && summary.files.length === 0) return;
        await context.console.print(gap);
        await context.printRecord(describe(summary));
        gap = '\n';
      } else if (single) await context.printRecord(snakeCase(summary) as Row, options);
      else await list.write([snakeCase(summary) as Row]);
    },
    end: async () => {
      if (!asTable && !single) await list.end();
    },
  };
}

/** Names fields in snake case, as the service does. */
function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCase(field),
    ]),
  );
}

function describe(summary: PackageSummary): Row {
  const { file, kind, ovfVersion, manifest, certificate } = summary;
  return {
    package: file,
    kind: kind === 'ova' ? 'OVA archive' : 'OVF descriptor and its files',
    'OVF version': ovfVersion,
    ...numbered('product', summary.products, describeProduct),
    ...numbered('system', summary.systems, describeSystem),
    ...numbered('disk', summary.disks, ({ id, capacity, format, file: content }) =>
      joined([id, bytesOf(capacity), formatName(format), content ?? 'empty']),
    ),
    ...numbered('network', summary.networks, ({ name, description }) =>
      joined([name, description === name ? null : description]),
    ),
    ...numbered('option', summary.deploymentOptions, (option) =>
      describeOption(option, summary.systems),
    ),
    ...numbered('file', summary.files, ({ name, size, role }) =>
      joined([name, describeBytes(size), role]),
    ),
    manifest: manifest && joined([manifest.algorithm, counted(manifest.entries.length, 'file')]),
    certificate,
  };
}

function describeProduct({ product, vendor, version, fullVersion, properties }: Product): string {
  return joined([product, vendor, fullVersion ?? version, counted(properties, 'property value')]);
}

function describeSystem(system: VirtualSystem): string {
  const { id, name, operatingSystem, hardwareFamilies, collections } = system;
  const within = collections.length > 0 ? `in ${collections.join('/')}` : null;
  const hardware = describeHardware(system.hardware);
  return joined([name ?? id ?? 'unnamed', operatingSystem, hardware, ...hardwareFamilies, within]);
}

function describeOption(option: DeploymentOption, systems: readonly VirtualSystem[]): string {
  const hardware = systems
    .flatMap(({ options }) => options)
    .filter((known) => known.option === option.id)
    .map((known) => describeHardware(known.hardware));
  const name = option.default ? `${option.id} (default)` : option.id;
  return [name, ...hardware].join(': ');
}

function describeHardware({ cpus, memory, disks, networks }: Hardware): string {
  return joined([
    cpus === null ? null : counted(cpus, 'CPU'),
    memory === null ? null : `${describeBytes(memory)} memory`,
    counted(disks.length, 'disk'),
    counted(networks.length, 'network adapter'),
  ]);
}

function bytesOf(bytes: number | null): string | null {
  return bytes === null ? null : describeBytes(bytes);
}

/** Returns the last part of a format's URL, the name that people use. */
function formatName(format: string | null): string | null {
  return format && (/[^/#]+$/.exec(format)?.[0] ?? format);
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(', ');
}

/** Labels a single line `disk`, several lines `disk 1` and `disk 2`; returns null for no line. */
function numbered<Part>(
  noun: string,
  parts: readonly Part[],
  describe: (part: Part) => string,
): Row {
  const lines = parts.map(describe);
  if (lines.length <= 1) return { [noun]: lines[0] ?? null };
  return Object.fromEntries(lines.map((line, index) => [`${noun} ${index + 1}`, line]));
}
