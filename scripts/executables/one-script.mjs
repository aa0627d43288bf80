// The launcher and the chunks of the bundle as one script, which is all that a single executable can hold.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A CommonJS script that runs bin/imgctl.js. Each file stays a function of its own, run when it is first asked
 * for, so that as little is loaded as from files. (rolldown's own way to one file loads Node's modules at once.)
 * `__dirname` is undefined in them: nothing lies beside an executable.
 */
export function makeOneScript(root) {
  const chunks = readdirSync(join(root, 'dist/chunks')).map((name) => `dist/chunks/${name}`);
  const scripts = ['bin/imgctl.js', 'dist/main.cjs', ...chunks].map((file) => {
    const code = readFileSync(join(root, file), 'utf8').replace(/^#!.*\n/, '');
    return moduleOf(file, code);
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const manifest = moduleOf('package.json', `exports.version = ${JSON.stringify(version)};`);
  return `const files = {\n${[...scripts, manifest].join('')}};\n(${run})(files, require);\n`;
}

/** The parentheses have V8 compile it, and keep it in the code cache, before it is called. */
function moduleOf(file, code) {
  return `'${file}': (function (module, exports, require, __dirname) {${code}\n}),\n`;
}

/** Becomes part of the script, so it uses nothing from outside. */
function run(files, requireBuiltIn) {
  const { posix } = requireBuiltIn('node:path');
  const loaded = new Map();
  const load = (file) => {
    let module = loaded.get(file);
    if (module === undefined) {
      module = { exports: {} };
      loaded.set(file, module);
      const require = (name) =>
        name.startsWith('.') ? load(posix.join(posix.dirname(file), name)) : requireBuiltIn(name);
      files[file](module, module.exports, require, undefined);
    }
    return module.exports;
  };
  load('bin/imgctl.js');
}
