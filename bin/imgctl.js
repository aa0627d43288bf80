#!/usr/bin/env node
// The launcher: answers --version and completion <shell> by itself, else has compiled code kept where Node can
// and runs the bundle.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

/** As in src/commands/completion.ts, which answers what is left to it. */
const COMPLETIONS = {
  bash: 'imgctl.bash',
  zsh: '_imgctl',
  fish: 'imgctl.fish',
  powershell: 'imgctl.ps1',
};

const { argv, env, platform } = process;
const answer = ownAnswer();

if (answer === undefined || !print(answer)) {
  keepCompiledCode();
  require('../dist/main.cjs').main(process);
}

/** What takes no bundle to say; undefined for all else, and where the program has to say what is wrong. */
function ownAnswer() {
  const [, , command, shell] = argv;
  try {
    if (argv.length === 3 && (command === '--version' || command === '-V')) {
      return `${require('../package.json').version}\n`;
    }
    if (argv.length === 4 && command === 'completion' && Object.hasOwn(COMPLETIONS, shell)) {
      return fs.readFileSync(path.join(__dirname, '../completions', COMPLETIONS[shell]));
    }
  } catch {
    return undefined;
  }
}

/** Whether all was written; if not, the program is left to try. Setting up process.stdout would take longer. */
function print(text) {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    try {
      written += fs.writeSync(1, bytes, written);
    } catch (error) {
      // A pipe that somebody made non-blocking is full for now.
      if (error.code !== 'EAGAIN') return false;
    }
  }
  return true;
}

/** Saves compiling the bundle at each start, from Node 22.1 on, for users who have a cache folder. */
function keepCompiledCode() {
  // A single executable, which lies in no folder, has brought its compiled code along.
  if (__dirname === undefined) return;
  const home = env.HOME && path.join(env.HOME, '.cache');
  const folder = platform === 'win32' ? env.LOCALAPPDATA : env.XDG_CACHE_HOME || home;
  if (!folder || !path.isAbsolute(folder) || !fs.existsSync(folder)) return;
  require('node:module').enableCompileCache?.(path.join(folder, 'imgctl', 'compiled'));
}
