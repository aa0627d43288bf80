#!/usr/bin/env node
// The launcher: answers --version and completion <shell> itself, else runs the bundle with a compile cache.
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

const { argv, env, platform, versions } = process;
const answer = ownAnswer();

if (answer === undefined || !print(answer)) {
  enableCompileCache();
  require('../dist/main.cjs').main(process);
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

/** Stores the compiled bundle from Node 22.1 on, so that the next start need not compile it. */
function enableCompileCache() {
  // A single executable lies in no folder and contains its compiled code.
  if (__dirname === undefined || Number.parseInt(versions.node, 10) < 22) return;
  const folder = cacheFolder();
  if (folder) require('node:module').enableCompileCache?.(path.join(folder, 'imgctl', 'compiled'));
}

/** Returns the user's cache folder, and makes it in a new home. */
function cacheFolder() {
  const home = env.HOME && path.join(env.HOME, '.cache');
  const folder = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME || home;
  if (!folder || !path.isAbsolute(folder)) return undefined;
  try {
    // Root must not make folders in another user's home.
    if (!fs.existsSync(folder) && process.getuid?.() === fs.statSync(path.dirname(folder)).uid) {
      fs.mkdirSync(folder, { mode: 0o700 });
    }
    return fs.existsSync(folder) ? folder : undefined;
  } catch {
    return undefined;
  }
}
