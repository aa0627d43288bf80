// The two scripts of a single executable: a short one with the launcher, and the bundle for everything else.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the assets: the bundle, and the code that V8 compiled from it. */
export const BUNDLE = 'bundle.js';
export const COMPILED = 'bundle.compiled';

/**
 * Returns a script whose value is an object: for each chunk of dist/, a function that runs when it is first required.
 * (A single file by rolldown would load all of Node's modules at once.) `__dirname` is undefined in the chunks.
 */
export function makeBundle(root) {
  const chunks = readdirSync(join(root, 'dist/chunks')).filter((name) => name.endsWith('.cjs'));
  const files = ['dist/main.cjs', ...chunks.sort().map((name) => `dist/chunks/${name}`)];
  const modules = files.map((file) => moduleOf(file, readFileSync(join(root, file), 'utf8')));
  return `({\n${modules.join('')}})`;
}

export function makeMain(root) {
  const open = opener(openBundle, { bundle: BUNDLE, compiled: COMPILED });
  return `(${run})(${launcher(root)}, ${open}, require);\n`;
}

/**
 * Returns a script that runs the bundle from a file and writes the code that V8 compiled to another file. It succeeds
 * if the run ended without a connection.
 */
export function makeTraining(root, bundle, compiled) {
  const open = opener(openForTraining, { bundle, compiled });
  return `(${run})(${launcher(root)}, ${open}, require);\n`;
}

function opener(make, names) {
  return `(${make})(${JSON.stringify(names)}, require)`;
}

function launcher(root) {
  const code = readFileSync(join(root, 'bin/imgctl.js'), 'utf8').replace(/^#!.*\n/, '');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const manifest = moduleOf('package.json', `exports.version = ${JSON.stringify(version)};`);
  return `{\n${moduleOf('bin/imgctl.js', code)}${manifest}}`;
}

function moduleOf(file, code) {
  return `'${file}': function (module, exports, require, __dirname) {${code}\n},\n`;
}

// The source of the functions below becomes part of the scripts, so they use nothing else of this file.

function run(files, open, requireBuiltIn) {
  const { posix } = requireBuiltIn('node:path');
  const loaded = new Map();
  let bundle;
  const load = (file) => {
    let module = loaded.get(file);
    if (module === undefined) {
      module = { exports: {} };
      loaded.set(file, module);
      const require = (name) =>
        name.startsWith('.') ? load(posix.join(posix.dirname(file), name)) : requireBuiltIn(name);
      if (!Object.hasOwn(files, file)) bundle ??= open();
      (files[file] ?? bundle[file])(module, module.exports, require, undefined);
    }
    return module.exports;
  };
  load('bin/imgctl.js');
}

function openBundle({ bundle, compiled }, require) {
  return () => {
    const { getAssetKeys, getRawAsset } = require('node:sea');
    const { Script } = require('node:vm');
    const asset = (name) => Buffer.from(getRawAsset(name));
    const cachedData = getAssetKeys().includes(compiled) ? asset(compiled) : undefined;
    return new Script(asset(bundle).toString(), { cachedData }).runInThisContext();
  };
}

function openForTraining({ bundle, compiled }, require) {
  return () => {
    const { readFileSync, writeFileSync } = require('node:fs');
    const { Script } = require('node:vm');
    const script = new Script(readFileSync(bundle, 'utf8'));
    process.on('exit', () => {
      writeFileSync(compiled, script.createCachedData());
      // Exit code 3 is expected, because there is no service.
      if (process.exitCode === 3) process.exitCode = 0;
    });
    return script.runInThisContext();
  };
}
