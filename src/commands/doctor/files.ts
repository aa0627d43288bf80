// Checks the files of imgctl: owner, modes, symbolic links and leftovers.

import fs from 'node:fs';
import path from 'node:path';
import { ImgctlError } from '../../errors.ts';
import { isMissing, isStagingName, MAX_WRITE_TIME } from '../../files/atomic-file.ts';
import type { Paths } from '../../files/paths.ts';
import type { Io } from '../../io.ts';
import { shellQuote } from '../../output/messages.ts';
import { configFilePath } from '../../session/settings.ts';
import { tokenFolder } from '../../session/token-cache.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

const SET_CONFIG_DIR = 'set IMGCTL_CONFIG_DIR to a writable directory';

/** Mode bits of everyone but the owner. */
const ANY_ACCESS = 0o077;
const WRITE_ACCESS = 0o022;

/** Checks the files. Must run before a token is read, because that tightens the mode of the file. */
export function checkFiles(paths: Paths, io: Io): Finding[] {
  const { config } = paths;
  if (config === undefined) {
    const finding = 'no home directory: tokens last for one run, and settings cannot be stored';
    return [warning('files', finding, SET_CONFIG_DIR)];
  }
  let problems: Finding[];
  try {
    problems = [...findProblems(config, io), ...unwritable(paths)];
  } catch (error) {
    const message = `cannot check the files: ${(error as Error).message}`;
    const hint = `check the owner and the modes: ls -la ${shellQuote(config)}`;
    return [failed('files', new ImgctlError('config', message, { hint }))];
  }
  if (problems.length > 0) return problems;
  if (!fs.existsSync(config)) return [ok('files', `the first login creates ${config}`)];
  return [ok('files', `${config}: owner and modes are correct`)];
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

/** Folders may be links, which are followed. */
function folderOf(file: string): Entry[] {
  return fs.existsSync(file) ? entryOf(fs.realpathSync(file)) : [];
}

function entriesIn(directory: string): Entry[] {
  return fs.readdirSync(directory).flatMap((name) => entryOf(path.join(directory, name)));
}

function findProblems(config: string, io: Io): Finding[] {
  const directory = folderOf(config);
  const tokens = folderOf(tokenFolder(config));
  const settings = entryOf(configFilePath(config));
  const inTokens = tokens.flatMap(({ file, stat }) => (stat.isDirectory() ? entriesIn(file) : []));
  const files = inTokens.filter(({ stat }) => !stat.isDirectory());
  const all = [...directory, ...settings, ...tokens, ...files];
  const links = files.filter(({ stat }) => stat.isSymbolicLink());
  const inConfig = fs.existsSync(config) ? entriesIn(config) : [];
  const leftovers = [...inConfig, ...files].filter((entry) => isLeftover(entry, io));
  const findings: Finding[] = [];
  const report = (entries: readonly Entry[], what: string, remedy: string) => {
    if (entries.length === 0) return;
    const names = entries.map(({ file }) => file);
    const words = names.map(shellQuote).join(' ');
    findings.push(warning('files', `${what}: ${names.join(', ')}`, `${remedy} ${words}`));
  };
  report(links, 'symbolic link, which is not followed', 'rm');
  report(leftovers, 'left behind by a killed run', 'rm');
  if (io.system.platform === 'win32') return findings;
  const accessible = (entries: readonly Entry[], bits: number) =>
    entries.filter(({ stat }) => !stat.isSymbolicLink() && (stat.mode & bits) !== 0);
  report(accessible(directory, WRITE_ACCESS), 'writable by other users', 'chmod 700');
  report(accessible(tokens, ANY_ACCESS), 'accessible to other users', 'chmod 700');
  report(accessible([...settings, ...files], ANY_ACCESS), 'readable by other users', 'chmod 600');
  const { uid } = io.system;
  const foreign = all.filter(({ stat }) => uid !== undefined && stat.uid !== uid);
  report(foreign, 'owned by another user', 'sudo chown "$(id -un)"');
  return findings;
}

function isLeftover({ file, stat }: Entry, io: Io): boolean {
  return isStagingName(path.basename(file)) && io.now() - stat.mtimeMs > MAX_WRITE_TIME;
}

function unwritable({ config, state }: Paths): Finding[] {
  const directories = [config, state].filter((directory) => directory !== undefined);
  return [...new Set(directories.map(nearestExisting))].flatMap((existing) => {
    try {
      if (!fs.statSync(existing).isDirectory())
        return [cannotWrite(`${existing} is not a directory`)];
      fs.accessSync(existing, fs.constants.W_OK | fs.constants.X_OK);
      return [];
    } catch (error) {
      return [cannotWrite(`cannot write to ${existing}: ${(error as NodeJS.ErrnoException).code}`)];
    }
  });
}

function cannotWrite(finding: string): Finding {
  return warning('files', finding, SET_CONFIG_DIR);
}

function nearestExisting(directory: string): string {
  const parent = path.dirname(directory);
  return fs.existsSync(directory) || parent === directory ? directory : nearestExisting(parent);
}
