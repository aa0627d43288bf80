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

const { argv, env, platform } = process;
const answer = ownAnswer();

if (answer === undefined || !print(answer)) {
  const folder = codeCacheFolder();
  const load = folder === undefined ? require : withCodeCache(folder);
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
  const initialFlags = new Script('0').createCachedData();
  const scripts = new Map();
  let hasNewChunk = false;
  process.on('exit', (exitCode) => {
    if (exitCode === 0 && hasNewChunk) store();
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
    const script = compile(file, source, folder === chunks);
    const run = script.runInThisContext();
    run(module.exports, requireFrom(folder), module, file, folder);
    return module.exports;
  }

  /** Only the name of a chunk changes with its content, so that stored code cannot be of another version. */
  function compile(filename, source, isChunk) {
    const cachedData = isChunk ? read(path.join(cache, path.basename(filename))) : undefined;
    const code = `(function (exports, require, module, __filename, __dirname) {${source}\n})`;
    const script = new Script(code, { filename, cachedData });
    if (isChunk) {
      scripts.set(path.basename(filename), script);
      hasNewChunk ||= cachedData === undefined || script.cachedDataRejected;
    }
    return script;
  }

  /** Stores all chunks, because this run may also have compiled more of the known ones. */
  function store() {
    try {
      // V8 accepts stored code only with the same flags. src/io.ts changes this one in a long run.
      require('node:v8').setFlagsFromString('--semi-space-growth-factor=2');
      if (new Script('1', { cachedData: initialFlags }).cachedDataRejected) return;
      if (!makeFolder(cache)) return;
      for (const [name, script] of scripts) {
        write(path.join(cache, name), script.createCachedData());
      }
    } catch {
      // The program works without it.
    }
  }
}

/** Returns the folder for compiled code, which lies in the user's cache folder whatever IMGCTL_CONFIG_DIR says. */
function codeCacheFolder() {
  // A single executable lies in no folder and contains its compiled code.
  if (__dirname === undefined) return undefined;
  if (env.NODE_DISABLE_COMPILE_CACHE || env.NODE_V8_COVERAGE) return undefined;
  const home = env.HOME && path.join(env.HOME, '.cache');
  const bases = [env.XDG_CACHE_HOME, platform === 'win32' ? env.LOCALAPPDATA : undefined, home];
  const base = bases.find((folder) => folder && path.isAbsolute(folder));
  const version = `${process.version}-${platform}-${process.arch}`;
  return base && path.join(base, 'imgctl', 'compiled', version);
}

/** Makes the folder. Returns false in another user's home, where root must make nothing. */
function makeFolder(folder) {
  let existing = folder;
  while (!fs.existsSync(existing)) existing = path.dirname(existing);
  if (!isOwn(fs.statSync(existing))) return false;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  return true;
}

function isOwn(stats) {
  return platform === 'win32' || stats.uid === process.getuid();
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
  let opened;
  try {
    opened = fs.openSync(file);
    const stats = fs.fstatSync(opened);
    if (!isOwn(stats)) return undefined;
    const bytes = Buffer.allocUnsafe(stats.size);
    const half = stats.size / 2;
    const isWhole = fs.readSync(opened, bytes) === bytes.length;
    const code = bytes.subarray(0, half);
    return isWhole && code.equals(bytes.subarray(half)) ? code : undefined;
  } catch {
    return undefined;
  } finally {
    if (opened !== undefined) fs.closeSync(opened);
  }
}
