#!/usr/bin/env node
// The launcher: answers --version and completion <shell> itself, else runs the bundle with a code cache.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

/** The same as in src/commands/completion.ts, which handles every other command line. */
const COMPLETIONS = {
  bash: 'imgctl.bash',
  zsh: '_imgctl',
  fish: 'imgctl.fish',
  powershell: 'imgctl.ps1',
};

/** Bytes of a disk that the code cache leaves to settings, tokens and states. */
const MIN_FREE = 64 * 2 ** 20;

const { argv, env, platform } = process;
const answer = ownAnswer();

if (answer === undefined || !print(answer)) {
  const cache = openCodeCache();
  const load = cache === undefined ? require : withCodeCache(cache);
  load('../dist/main.cjs').main(process);
}

/** Returns what can be answered without the bundle; undefined for everything else, errors included. */
function ownAnswer() {
  const [, , command, shell] = argv;
  try {
    if (argv.length === 3 && ['--version', '-V', 'version'].includes(command)) {
      return `${require('../package.json').version}\n`;
    }
    if (argv.length === 4 && command === 'completion' && Object.hasOwn(COMPLETIONS, shell)) {
      return fs.readFileSync(path.join(__dirname, '../completions', COMPLETIONS[shell]));
    }
  } catch {
    return undefined;
  }
}

/** Returns false if the program has to write instead. Opening process.stdout would take longer. */
function print(text) {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += fs.writeSync(1, bytes, written);
    } catch (error) {
      // A pipe that was made non-blocking is full for now.
      if (error.code !== 'EAGAIN') return false;
    }
  }
  return true;
}

/**
 * Returns a `require` that saves V8 the work of compiling: it stores what V8 compiled, one file per chunk, and passes it
 * on in the next run. Node's own module.enableCompileCache is missing from Node 20, and never adds what a later command
 * needs of a chunk.
 */
function withCodeCache(cache) {
  const { Script } = require('node:vm');
  const chunks = path.join(__dirname, '../dist/chunks');
  const [before, after] = ['(function (exports, require, module, __filename, __dirname) {', '\n})'];
  const probe = new Script('0').createCachedData();
  const scripts = [];
  process.on('exit', (exitCode) => {
    if (exitCode === 0 && scripts.some(({ stored }) => stored === 0)) storeAll();
  });
  return requireFrom(__dirname);

  function requireFrom(folder) {
    return (name) => (name.startsWith('.') ? load(path.join(folder, name)) : require(name));
  }

  function load(file) {
    if (require.cache[file]) return require.cache[file].exports;
    let source;
    try {
      source = fs.readFileSync(file, 'utf8');
    } catch {
      // Its error message says what is missing.
      return require(file);
    }
    const folder = path.dirname(file);
    const module = { exports: {}, filename: file, id: file, loaded: true };
    require.cache[file] = module;
    try {
      const run = compile(file, before + source + after, folder === chunks).runInThisContext();
      run(module.exports, requireFrom(folder), module, file, folder);
    } catch (error) {
      delete require.cache[file];
      throw error;
    }
    return module.exports;
  }

  /** Only chunks are stored: their names have a hash of their content. */
  function compile(filename, code, isChunk) {
    const file = path.join(cache.folder, path.basename(filename));
    const cachedData = isChunk ? read(file) : undefined;
    const script = new Script(code, { filename, cachedData, columnOffset: -before.length });
    const isAccepted = cachedData !== undefined && !script.cachedDataRejected;
    if (isChunk) scripts.push({ file, script, stored: isAccepted ? cachedData.length : 0 });
    return script;
  }

  /** Stores all chunks, because this run may also have compiled more of the known ones. */
  function storeAll() {
    try {
      // V8 accepts stored code only with the same flags. In a long run, src/io.ts changes this one.
      require('node:v8').setFlagsFromString('--semi-space-growth-factor=2');
      if (new Script('1', { cachedData: probe }).cachedDataRejected || !makeFolder(cache)) return;
      removeLeftovers(cache.folder);
      for (const { file, script, stored } of scripts) {
        const code = script.createCachedData();
        // In a long run, V8 drops code that is no longer used.
        if (code.length > stored) write(file, code);
      }
    } catch {
      // The program works without it.
    }
  }
}

/**
 * Returns the folder for compiled code and the user's cache folder above it; undefined if there is none, or if it is
 * another user's. A single executable lies in no folder and contains its compiled code.
 */
function openCodeCache() {
  if (__dirname === undefined) return undefined;
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) return undefined;
  const home = env.HOME && path.join(env.HOME, '.cache');
  const bases = [env.XDG_CACHE_HOME, platform === 'win32' ? env.LOCALAPPDATA : undefined, home];
  const base = bases.find((folder) => folder && path.isAbsolute(folder));
  if (base === undefined) return undefined;
  const version = `${process.version}-${platform}-${process.arch}`;
  const folder = path.join(base, 'imgctl', 'compiled', version);
  try {
    const stats = fs.statSync(folder, { throwIfNoEntry: false });
    return stats && !isOwn(stats) ? undefined : { base, folder };
  } catch {
    return undefined;
  }
}

/** Makes the folder. Returns false if there is no home or little space, or for root in another user's home. */
function makeFolder({ base, folder }) {
  const existing = fs.existsSync(base) ? base : path.dirname(base);
  if (process.getuid?.() === 0 && !isOwn(fs.statSync(existing))) return false;
  const { bavail, bsize } = fs.statfsSync(existing);
  if (bavail * bsize < MIN_FREE) return false;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return true;
}

function isOwn(stats) {
  return platform === 'win32' || stats.uid === process.getuid();
}

/** Removes the files of runs that were killed while they wrote. */
function removeLeftovers(folder) {
  for (const name of fs.readdirSync(folder)) {
    const file = path.join(folder, name);
    if (!name.endsWith('.cjs') && Date.now() - fs.statSync(file).mtimeMs > 60_000) fs.rmSync(file);
  }
}

/** V8 crashes on damaged code. So a file contains it twice, because comparing is faster than a checksum. */
function write(file, code) {
  const temporary = `${file}.${process.pid}`;
  try {
    fs.writeFileSync(temporary, Buffer.concat([code, code]), { mode: 0o600 });
    fs.renameSync(temporary, file);
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw error;
  }
}

/** Returns undefined if the file is missing, damaged or another user's. */
function read(file) {
  // Windows has neither flag. Without O_NONBLOCK opening a named pipe never returns.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = fs.constants;
  let opened;
  try {
    opened = fs.openSync(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    const stats = fs.fstatSync(opened);
    if (!stats.isFile() || !isOwn(stats)) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size);
    const isWhole = fs.readSync(opened, bytes) === bytes.length;
    const code = bytes.subarray(0, stats.size / 2);
    return isWhole && code.equals(bytes.subarray(stats.size / 2)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) fs.closeSync(opened);
  }
}
