// The files of imgctl: where they are, who can read and write them, and what was left behind.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../../errors.ts';
import { isMissing, isStagingName, MAX_WRITE_TIME } from '../../files/atomic-file.ts';
import type { Paths } from '../../files/paths.ts';

import type { Io } from '../../io.ts';
import { shellQuote } from '../../output/index.ts';
import { configFilePath } from '../../session/profile.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const ANOTHER_PLACE = 'set IMGCTL_CONFIG_DIR to a directory that can be written';

const OTHERS_READ = 0o077;
const OTHERS_WRITE = 0o022;

/** To be run before anything is read: reading a token tightens its file. */
export function checkFiles(paths: Paths, io: Io): Finding[] {
  const { config } = paths;
  if (config === undefined) {
    const finding = 'there is no home directory: a token lasts for one run, settings are not kept';
    return [warning('files', finding, ANOTHER_PLACE)];
  }
  let problems: Finding[];
  try {
    problems = [...problemsOf(config, io), ...unwritable(paths)];
  } catch (error) {
    const message = `cannot look at the files: ${(error as Error).message}`;
    const hint = `see whose they are: ls -la ${shellQuote(config)}`;
    return [failed('files', new ImgctlError('config', message, { hint }))];
  }
  if (problems.length > 0) return problems;
  if (!fs.existsSync(config)) return [ok('files', `${config} is made by the first login`)];
  return [ok('files', `${config}: owner and modes are right`)];
}

interface Entry {
  readonly file: string;
  readonly stat: fs.Stats;
}

function entryOf(file: string): Entry[] {
  try {
    return [{ file, stat: fs.lstatSync(file) }];
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function problemsOf(config: string, io: Io): Finding[] {
  const directory = fs.existsSync(config) ? entryOf(fs.realpathSync(config)) : [];
  const tokens = entryOf(path.join(config, 'tokens'));
  const settings = entryOf(configFilePath(config));
  const inTokens = tokens.some(({ stat }) => stat.isDirectory())
    ? fs
        .readdirSync(path.join(config, 'tokens'))
        .flatMap((name) => entryOf(path.join(config, 'tokens', name)))
    : [];
  const files = inTokens.filter(({ stat }) => !stat.isDirectory());
  const all = [...directory, ...settings, ...tokens, ...files];
  const links = [...tokens, ...files].filter(({ stat }) => stat.isSymbolicLink());
  const left = [...leftBehind(config, io), ...files.filter((entry) => isLeftBehind(entry, io))];
  const findings: Finding[] = [];
  const report = (entries: readonly Entry[], what: string, remedy: string) => {
    if (entries.length === 0) return;
    const names = entries.map(({ file }) => file);
    const words = names.map(shellQuote).join(' ');
    findings.push(warning('files', `${what}: ${names.join(', ')}`, `${remedy} ${words}`));
  };
  report(links, 'a symbolic link, which is not followed', 'rm');
  report(left, 'left behind by a run that was killed', 'rm');
  if (io.platform === 'win32') return findings;
  const wide = (entries: readonly Entry[], bits: number) =>
    entries.filter(({ stat }) => !stat.isSymbolicLink() && (stat.mode & bits) !== 0);
  report(wide(directory, OTHERS_WRITE), 'others can write in it', 'chmod 700');
  report(wide(tokens, OTHERS_READ), 'others can look into it', 'chmod 700');
  report(wide([...settings, ...files], OTHERS_READ), 'others can read it', 'chmod 600');
  const uid = process.getuid?.();
  const foreign = all.filter(({ stat }) => uid !== undefined && stat.uid !== uid);
  report(foreign, 'it belongs to another user', 'sudo chown "$(id -un)"');
  return findings;
}

function leftBehind(config: string, io: Io): Entry[] {
  const names = fs.existsSync(config) ? fs.readdirSync(config) : [];
  return names
    .flatMap((name) => entryOf(path.join(config, name)))
    .filter((entry) => isLeftBehind(entry, io));
}

/** Files are written beside their place, under a hidden name. */
function isLeftBehind({ file, stat }: Entry, io: Io): boolean {
  return isStagingName(path.basename(file)) && io.now() - stat.mtimeMs > MAX_WRITE_TIME;
}

function unwritable({ config, state }: Paths): Finding[] {
  const directories = [config, state].filter((directory) => directory !== undefined);
  return [...new Set(directories.map(nearestExisting))].flatMap((existing) => {
    try {
      if (!fs.statSync(existing).isDirectory()) return [cannotWrite(`${existing} is no directory`)];
      fs.accessSync(existing, fs.constants.W_OK | fs.constants.X_OK);
      return [];
    } catch (error) {
      return [cannotWrite(`cannot write in ${existing}: ${(error as NodeJS.ErrnoException).code}`)];
    }
  });
}

function cannotWrite(finding: string): Finding {
  return warning('files', finding, ANOTHER_PLACE);
}

function nearestExisting(directory: string): string {
  const parent = path.dirname(directory);
  return fs.existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}
