#!/usr/bin/env node
// The launcher: answers --version by itself, has compiled code kept where Node can, then runs the bundle.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { argv, env, platform } = process;

if (!(isVersionAlone() && printVersion())) {
  keepCompiledCode();
  require('../dist/main.cjs').main(process);
}

function isVersionAlone() {
  return argv.length === 3 && (argv[2] === '--version' || argv[2] === '-V');
}

/** Whether it was written; if not, the program is left to try. Setting up process.stdout would take longer. */
function printVersion() {
  try {
    fs.writeSync(1, `${require('../package.json').version}\n`);
    return true;
  } catch {
    return false;
  }
}

/** Saves compiling the bundle at each start, from Node 22.1 on, for users who have a cache folder. */
function keepCompiledCode() {
  const home = env.HOME && path.join(env.HOME, '.cache');
  const folder = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME || home;
  if (!folder || !path.isAbsolute(folder) || !fs.existsSync(folder)) return;
  require('node:module').enableCompileCache?.(path.join(folder, 'imgctl', 'compiled'));
}
