// Runs inspect or validate on one damaged package.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { type CliResult, fakeIo, runCli } from '../support/io.ts';
import { manifestOf, packTar, sampleMembers, type TarMember } from '../support/package-writer.ts';
import { type Case, FORMATS } from './cases.ts';
import { mutateFile, mutateFiles } from './package-mutations.ts';
import { Random } from './random.ts';
import { faultsOf } from './verdict.ts';

const DIALECTS = path.resolve(import.meta.dirname, '../ovf/dialects');
/** Milliseconds; only a defect takes so long. */
const TIME_LIMIT = 30_000;

interface PackageTrial {
  readonly faults: readonly string[];
  readonly exitCode: number;
  readonly codes: readonly string[];
  readonly mutations: readonly string[];
  readonly report: string;
}

type Files = readonly TarMember[];

/** Packages in a folder, the descriptor first. */
const PACKAGES: readonly Files[] = [
  sampleMembers('vm'),
  sampleMembers('vm'),
  sampleMembers('vm').map(({ name, content }) =>
    name.endsWith('.vmdk') ? { name, content: gzipSync(content) } : { name, content },
  ),
  ...readdirSync(DIALECTS).map((name) => [
    { name: 'vm.ovf', content: readFileSync(path.join(DIALECTS, name)) },
    ...sampleMembers('vm').slice(2),
  ]),
];

export async function runPackageTrial(
  seed: string,
  skipped: ReadonlySet<string> = new Set(),
): Promise<PackageTrial> {
  const random = new Random(seed);
  const command = random.pick(['validate', 'validate', 'inspect']);
  const format = random.pick(FORMATS);
  const columns = random.chance(0.3) ? random.pick([20, 80, 200]) : undefined;
  const isArchive = random.chance(0.5);
  const mutations: string[] = [];
  const mutate = (files: Files, count: number): Files => {
    let changed = [...files];
    for (let index = 1; index <= count; index += 1) {
      const own = new Random(`${seed} ${mutations.length}`);
      const target = own.pick(changed).name;
      changed = changed.map((file) => {
        if (file.name !== target) return file;
        const [content, change] = mutateFile(target, Buffer.from(file.content), own);
        const name = `${mutations.length}: ${change}`;
        mutations.push(name);
        return skipped.has(name) ? file : { name: target, content };
      });
    }
    return changed;
  };
  const inner = random.pick([0, 1, 1, 2, 3]);
  let files = mutate(random.pick(PACKAGES), inner);
  if (random.chance(0.5)) files = withManifest(files);
  if (isArchive) {
    if (random.chance(0.3)) files = mutateFiles(files, random);
    const archive = { name: 'vm.ova', content: packTar(files) };
    files = mutate([archive], inner === 0 ? 1 + random.below(3) : random.below(2));
  }
  const cwd = mkdtempSync(path.join(tmpdir(), 'imgctl-fuzz-'));
  for (const { name, content } of files) writeFileSync(path.join(cwd, name), content);
  const run: Case = {
    argv: [command, files[0]?.name ?? '', '-o', format],
    format,
    env: {},
    hasFolder: false,
    columns,
  };
  const io = fakeIo({ cwd, ...(columns === undefined ? {} : { columns }) });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    io.interrupt();
  }, TIME_LIMIT);
  const result = await runCli(run.argv, io);
  clearTimeout(timer);
  rmSync(cwd, { recursive: true, force: true });
  const faults = [...faultsOf(run, result), ...verdictFaults(run, result)];
  return {
    faults: isLate ? [...faults, 'does not end'] : faults,
    exitCode: result.exitCode,
    codes: codesIn(result),
    mutations,
    report: [
      `FUZZ_PACKAGE='${seed}' imgctl ${run.argv.join(' ')}`,
      ...mutations.filter((name) => !skipped.has(name)),
      `exit ${result.exitCode}, stderr: ${JSON.stringify(result.stderr.slice(0, 3_000))}`,
      `stdout: ${JSON.stringify(result.stdout.slice(0, 1_000))}`,
    ].join('\n'),
  };
}

/** Replaces the manifest, if there is one, so that damage is not found by its digest alone. */
function withManifest(files: Files): Files {
  const others = files.filter(({ name }) => !name.endsWith('.mf'));
  const manifest = Buffer.from(manifestOf(others));
  return files.map((file) => (file.name.endsWith('.mf') ? { ...file, content: manifest } : file));
}

/** Finds the code of each finding in any format. */
function codesIn({ stdout }: CliResult): string[] {
  const pattern = /\b(?:error|warning)[\s",:]+(?:code[\s":]+)?([a-z]+(?:-[a-z]+)+)/g;
  return [...stdout.matchAll(pattern)].map(([, code = '']) => code);
}

interface Finding {
  readonly severity: string;
  readonly message: string;
}

function findingsIn({ argv, format }: Case, { stdout }: CliResult): readonly Finding[] {
  if (argv[0] !== 'validate' || format !== 'json') return [];
  return JSON.parse(stdout || '[]');
}

function verdictFaults(run: Case, result: CliResult): string[] {
  const { exitCode } = result;
  const findings = findingsIn(run, result);
  const faults = exitCode > 1 ? [`exit code ${exitCode} for a package`] : [];
  if (findings.some(({ message }) => message.length > 300)) faults.push('endless message');
  if (run.argv[0] !== 'validate' || run.format !== 'json') return faults;
  const isInvalid = findings.some(({ severity }) => severity === 'error');
  return isInvalid === (exitCode === 1) ? faults : [...faults, 'findings contradict the exit code'];
}
