// The one script of a single executable: every chunk of dist/, run when it is first required.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A single file by rolldown would load all of Node's modules at once. `__dirname` is undefined in the chunks. */
export function makeScript(root) {
  const chunks = readdirSync(join(root, 'dist/chunks')).filter((name) => name.endsWith('.cjs'));
  const files = ['main.cjs', ...chunks.sort().map((name) => `chunks/${name}`)];
  const modules = files.map((file) => {
    const code = readFileSync(join(root, 'dist', file), 'utf8');
    return `'${file}': function (module, exports, require, __dirname) {${code}\n},\n`;
  });
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return `(${run})({\n${modules.join('')}}, '${version}', require);\n`;
}

/** Becomes part of the script, so it uses nothing else of this file. */
function run(chunks, version, requireBuiltIn) {
  const { posix } = requireBuiltIn('node:path');
  const loaded = new Map();
  const load = (file) => {
    let module = loaded.get(file);
    if (module === undefined) {
      module = { exports: {} };
      loaded.set(file, module);
      const require = (name) =>
        name.startsWith('.') ? load(posix.join(posix.dirname(file), name)) : requireBuiltIn(name);
      chunks[file](module, module.exports, require, undefined);
    }
    return module.exports;
  };
  if (process.argv.length === 3 && process.argv[2] === '--version') {
    requireBuiltIn('node:fs').writeSync(1, `${version}\n`);
  } else {
    load('main.cjs').main(process);
  }
}
