// imgctl inspect: shows the contents of local OVA and OVF packages.

import { command } from '../../cli/declare.ts';
import type { Result, Rows } from '../../cli/result.ts';
import type { Context } from '../../context.ts';
import { ImgctlError } from '../../errors.ts';
import { hint, imgctl } from '../../facts.ts';
import type { Io } from '../../io.ts';
import { column, type Row } from '../../output/columns.ts';
import type { Hardware } from '../../ovf/hardware.ts';
import type { PackageSummary } from '../../ovf/package.ts';
import type { Signature } from '../../ovf/signature.ts';
import { counted, describeBytes } from '../../words.ts';
import { FILES, PackageBatch } from './package-batch.ts';
import { errorsOf } from './package-errors.ts';

const COLUMNS = [
  column('file', 'string', 'path as given', { isId: true }),
  column('kind', 'string', 'ova (archive) or ovf (descriptor with its files)'),
  column('ovf_version', 'string or null', 'OVF version; null if the descriptor cannot be read'),
  column('products', 'array', 'product, vendor, version, full_version, number of properties'),
  column('systems', 'array', 'virtual machines: id, name, operating_system, hardware and more'),
  column('disks', 'array', 'virtual disks: id, capacity in bytes, format, file, parent'),
  column('networks', 'array', 'name and description'),
  column('deployment_options', 'array', 'id, label, description, default'),
  column('files', 'array', 'files of the package: name, size in bytes, role'),
  column('manifest', 'object or null', 'algorithm of the first entry, and the entries'),
  column('certificate', 'string or null', 'file name of the certificate'),
  column(
    'signature',
    'object or null',
    'signer, issuer, self_signed, algorithm, valid_until; null if it is missing or wrong',
  ),
  column('findings', 'array', 'the findings of validate, except digests'),
];

export const inspect = command({
  name: 'inspect',
  summary: 'show the contents of a local OVA or OVF package',
  description: [
    'Shows products, systems with their hardware, disks, networks and files. Sends nothing. "imgctl validate" also checks digests. Sizes are in bytes, except in tables. With -o json, one file prints an object, several print an array.',
  ],
  examples: [
    'imgctl inspect appliance.ova',
    "imgctl inspect appliance.ovf --json | jq '.systems[].hardware.memory'",
  ],
  seeAlso: ['validate'],
  arguments: [FILES],
  fields: COLUMNS,
  needsNoSettings: true,
  exitCodes: [5],
  run,
});

async function run(context: Context, _options: object, files: readonly string[]): Promise<Result> {
  const data = context.output(COLUMNS);
  const { isTable } = data;
  // A table describes each package, without what it does not have.
  const output = isTable ? context.output([], { asRecords: true, omitsMissing: true }) : data;
  const batch = new PackageBatch(context, files);
  return { output, rows: inspectEach(context, batch, isTable), isOne: files.length === 1 };
}

async function* inspectEach({ io, console }: Context, batch: PackageBatch, isTable: boolean): Rows {
  let count = 0;
  const read = (file: string, resolved: string) => inspectFile(io, file, resolved, isTable);
  for await (const { summary, rows, error } of batch.each(read)) {
    yield rows;
    if (error) continue;
    count += 1;
    const errors = errorsOf(summary);
    if (errors.length === 0) continue;
    const message = `${summary.file} has ${counted(errors.length, 'error')}`;
    const see = hint`see all findings with: ${imgctl('validate', summary.file)}`;
    console.warn(message, see);
  }
  return { error: batch.error({ read: count }) };
}

async function inspectFile({ signal, now }: Io, file: string, resolved: string, isTable: boolean) {
  const { checkPackage } = await import('../../ovf/package.ts');
  const checked = await checkPackage(resolved, { signal, now: now() });
  const summary = { ...checked.summary, file };
  const row = isTable ? describe(summary) : (snakeCase(summary) as Row);
  if (summary.ovfVersion !== null) return { summary, rows: [row], error: undefined };
  // A table has nothing to show of a file that is no package at all.
  const rows = isTable && summary.files.length === 0 ? [] : [row];
  const message = `${file} contains no readable OVF descriptor`;
  const see = hint`see why with: ${imgctl('validate', file)}`;
  return { summary, rows, error: new ImgctlError('invalid-package', message, { facts: see }) };
}

/** Names fields in snake case, as the service does. */
function snakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCase);
  if (typeof value !== 'object' || value === null) return value;
  const nameOf = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const fields = Object.entries(value).map(([name, field]) => [nameOf(name), snakeCase(field)]);
  return Object.fromEntries(fields);
}

function describe(summary: PackageSummary): Row {
  const { file, kind, systems, manifest } = summary;
  return {
    package: file,
    kind: kind === 'ova' ? 'OVA archive' : 'OVF descriptor and its files',
    'OVF version': summary.ovfVersion,
    ...numbered('product', summary.products, (each) => [
      each.product,
      each.vendor,
      each.fullVersion ?? each.version,
      each.properties === 1 ? '1 property' : `${each.properties} properties`,
    ]),
    ...numbered('system', systems, ({ id, name, operatingSystem, collections, ...each }) => [
      name ?? id ?? 'unnamed',
      operatingSystem,
      describeHardware(each.hardware),
      ...each.hardwareFamilies,
      collections.length > 0 ? `in ${collections.join('/')}` : null,
    ]),
    ...numbered('disk', summary.disks, ({ id, capacity, format, file }) => [
      id,
      capacity === null ? null : describeBytes(capacity),
      // The last part of its URL, which is the name that people use.
      format?.replace(/^.*[/#](?=.)/, '') ?? null,
      file ?? 'empty',
    ]),
    ...numbered('network', summary.networks, ({ name, description }) => [
      name,
      description === name ? null : description,
    ]),
    ...numbered('option', summary.deploymentOptions, ({ id, default: isDefault }) => {
      const all = systems.flatMap(({ options }) => options);
      const hardware = all
        .filter(({ option }) => option === id)
        .map((each) => describeHardware(each.hardware));
      return [[isDefault ? `${id} (default)` : id, ...hardware].join(': ')];
    }),
    ...numbered('file', summary.files, ({ name, size, role }) => [name, describeBytes(size), role]),
    manifest: manifest && joined([manifest.algorithm, counted(manifest.entries.length, 'file')]),
    certificate: summary.certificate,
    'signed by': summary.signature && describeSignature(summary.signature),
  };
}

function describeHardware({ cpus, memory, disks, networks }: Hardware): string {
  return joined([
    cpus === null ? null : counted(cpus, 'CPU'),
    memory === null ? null : `${describeBytes(memory)} memory`,
    counted(disks.length, 'disk'),
    counted(networks.length, 'network adapter'),
  ]);
}

export function describeSignature({ signer, issuer, selfSigned, ...signature }: Signature): string {
  const day = signature.validUntil.slice(0, 10);
  const by = selfSigned ? 'self-signed' : `issued by ${issuer}`;
  return `${signer} (${signature.algorithm}), valid until ${day}, ${by}; the issuer is not verified`;
}

function joined(parts: readonly (string | null)[]): string {
  return parts.filter((part) => part !== null && part !== '').join(', ');
}

/** Labels a single line `disk`, several lines `disk 1` and `disk 2`; returns null for no line. */
function numbered<Part>(
  noun: string,
  parts: readonly Part[],
  wordsOf: (part: Part) => readonly (string | null)[],
): Row {
  const lines = parts.map((part) => joined(wordsOf(part)));
  if (lines.length <= 1) return { [noun]: lines[0] ?? null };
  return Object.fromEntries(lines.map((line, index) => [`${noun} ${index + 1}`, line]));
}
