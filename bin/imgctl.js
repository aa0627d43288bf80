#!/usr/bin/env node
// The launcher: answers --version and completion SHELL itself, else runs the bundle with stored compiled code.
'use strict';

// Node 10 has to understand this file: no later syntax, and no node: module before the check.
const { execPath, versions } = process;
const [major, minor] = versions.node.split('.').map(Number);
// Node 21 and the first of Node 22 lack what Node 20.19 has.
const [minMajor, minMinor] = major > 20 ? [22, 3] : [20, 19];
if (major < minMajor || (major === minMajor && minor < minMinor)) {
  fail(`needs Node ${minMajor}.${minMinor} or later, found ${versions.node}, at ${execPath}`);
} else launch();

function fail(message) {
  process.stderr.write(`imgctl: ${message}\n`);
  process.exitCode = 2;
}

function launch() {
  const fs = require('node:fs');
  const path = require('node:path');
  // Without opening process.stdout or loading the bundle, which takes longer.
  if (answer(process.argv.slice(2), fs, path)) return;
  const [storedCode, bundle] = ['stored-code', 'main'].map((name) =>
    path.join(__dirname, `../dist/${name}.cjs`),
  );
  if (![storedCode, bundle].every(fs.existsSync)) return fail('not built yet\nhint: npm run build');
  require(storedCode).useStoredCode(require);
  require(bundle).main(process);
}

/** Prints the answer; returns false for what the bundle has to answer, errors included. */
function answer([command, ...args], fs, path) {
  const isVersion = args.length === 0 && ['--version', '-V', 'version'].includes(command);
  const isScript = command === 'completion' && args.length === 1 && /^\w+$/.test(args[0]);
  if (!isVersion && !isScript) return false;
  try {
    const file = isVersion ? 'package.json' : `completions/imgctl.${args[0]}`;
    const text = fs.readFileSync(path.join(__dirname, '..', file), 'utf8');
    fs.writeFileSync(1, isVersion ? `${JSON.parse(text).version}\n` : text);
    return true;
  } catch {
    return false;
  }
}
