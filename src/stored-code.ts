// Compiles the bundle with the code that an earlier run stored, which saves a fifth of a start.
// Node's own compile cache stores no function that runs later, and Node 20 has none.
// The launcher loads this before the bundle, as a file of its own.

import fs from 'node:fs';
import path from 'node:path';
import { Script } from 'node:vm';
import { crc32 } from 'node:zlib';

/** A file of the bundle that was compiled in this run. */
interface Compiled {
  /** The file for its compiled code. */
  readonly stored: string;
  readonly source: string;
  readonly script: Script;
}

/**
 * Makes Node take compiled code from the user's folder for it, if there can be one, and store there what it lacks.
 *
 * @param require the launcher's own, which loads the bundle
 */
export function useStoredCode(require: NodeJS.Require): void {
  const folder = codeFolder(process);
  if (!folder) return;
  const compiled: Compiled[] = [];
  require.extensions['.cjs'] = (module, file) => {
    const text = fs.readFileSync(file, 'utf8');
    const source = `(function (exports, require, module, __filename, __dirname) {${text}\n})`;
    const stored = path.join(folder, `${path.basename(file)}-${process.version}-${process.arch}`);
    const script = new Script(source, { filename: file, cachedData: readCode(stored, source) });
    // V8 rejects the code if it runs with other flags, as NODE_OPTIONS can set them.
    if (script.cachedDataRejected !== false) compiled.push({ stored, source, script });
    const { exports } = module;
    // The bundle uses neither import() nor require.resolve.
    const requireFrom = (name: string) => module.require(name);
    script.runInThisContext().call(exports, exports, requireFrom, module, file, path.dirname(file));
  };
  // Not before, since V8 compiles a function when it first runs.
  process.once('exit', () => {
    try {
      compiled.forEach(storeCode);
    } catch {
      // The disk is full, for example; the next run tries again.
    }
  });
}

/** Returns undefined for code of another source, or that is damaged: V8 would abort. */
function readCode(stored: string, source: string): Buffer | undefined {
  try {
    const bytes = fs.readFileSync(stored);
    const code = bytes.subarray(4);
    return bytes.readUInt32LE() === checksum(source, code) ? code : undefined;
  } catch {
    return undefined;
  }
}

function storeCode({ stored, source, script }: Compiled): void {
  const temporary = `${stored}.${process.pid}`;
  try {
    const code = script.createCachedData();
    const sum = Buffer.alloc(4);
    sum.writeUInt32LE(checksum(source, code));
    fs.writeFileSync(temporary, Buffer.concat([sum, code]), { mode: 0o600 });
    fs.renameSync(temporary, stored);
  } finally {
    fs.rmSync(temporary, { force: true });
  }
}

function checksum(source: string, code: Buffer): number {
  return crc32(code, crc32(source));
}

/** Returns the folder for compiled code, made if it is missing; undefined if others could plant code there. */
function codeFolder({ env, platform, getuid }: NodeJS.Process): string | undefined {
  const { HOME = '', XDG_CACHE_HOME = '', LOCALAPPDATA } = env;
  if (env.NODE_DISABLE_COMPILE_CACHE) return undefined;
  try {
    if (platform === 'win32') return LOCALAPPDATA && windowsFolder(LOCALAPPDATA);
    if (!path.isAbsolute(HOME)) return undefined;
    const cache = path.isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : path.join(HOME, '.cache');
    const names = path.relative(HOME, path.join(cache, 'imgctl/compiled')).split(path.sep);
    if (names[0] === '..' || !isOursAlone(HOME, getuid?.())) return undefined;
    let folder = HOME;
    for (const name of names) {
      folder = path.join(folder, name);
      if (!fs.existsSync(folder)) fs.mkdirSync(folder, { mode: 0o700 });
      if (!isOursAlone(folder, getuid?.())) return undefined;
    }
    return folder;
  } catch {
    return undefined;
  }
}

function windowsFolder(localAppData: string): string {
  const folder = path.join(localAppData, 'imgctl/compiled');
  fs.mkdirSync(folder, { recursive: true });
  return folder;
}

/** True for a folder, no link, of this user that nobody else may write to. */
function isOursAlone(folder: string, uid: number | undefined): boolean {
  const stats = fs.lstatSync(folder);
  return stats.isDirectory() && stats.uid === uid && !(stats.mode & 0o022);
}
