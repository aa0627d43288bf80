// A rolldown plugin that replaces modules that libraries import but imgctl never uses.

import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const NOTHING = 'module.exports = {};';
const { ERROR, TYPE } = createRequire(import.meta.url)('undici/lib/llhttp/constants.js');

/** The library, the module that it imports, and the CommonJS code that it gets instead. */
const LEFT_OUT = [
  // HTTP/2 loads node:http2; imgctl offers only HTTP/1.1.
  ['undici', './client-h2.js', `module.exports = ${refusal('HTTP/2')}`],
  // Forms as bodies need all of fetch; imgctl sends none.
  ['undici', '../web/fetch/body.js', `exports.extractBody = ${refusal('a form as body')}`],
  // undici then uses the same parser without SIMD, which runs on every processor.
  ['undici', '../llhttp/llhttp_simd-wasm.js', NOTHING],
  // undici needs only the limit, and the class to recognise streams.
  ['undici', 'node:http', 'exports.maxHeaderSize = 16384; exports.IncomingMessage = class {};'],
  // Of its tables, which it computes when it is loaded, the client reads two.
  ['undici', '../llhttp/constants.js', `module.exports = ${JSON.stringify({ ERROR, TYPE })};`],
  // Its search tree of known header names takes longer to build than one run saves by it.
  ['undici', './tree', 'exports.tree = { lookup() {} };'],
  // undici asserts only simple conditions; the real module loads five more modules.
  ['undici', 'node:assert', `module.exports = ${assert}`],
  // commander can run other programs as subcommands; imgctl has none.
  ['commander', 'node:child_process', NOTHING],
  // The global object is the same, and needs no module.
  ['commander', 'node:process', 'module.exports = process;'],
  // conf needs ajv for schemas and semver for migrations; imgctl has neither.
  ['conf', 'ajv/dist/2020.js', `exports.Ajv2020 = ${refusal('a schema')}`],
  ['conf', 'ajv-formats', `exports.default = ${refusal('a schema')}`],
  ['conf', 'semver', NOTHING],
  // spinner.ts gives ora its frames and a stream; ora would patch process.stdout, and hide the cursor.
  ['ora', 'node:process', 'module.exports = { env: {} };'],
  ['ora', 'string-width', 'module.exports = (text) => text.length;'],
  ...[
    'chalk',
    'cli-cursor',
    'cli-spinners',
    'is-interactive',
    'is-unicode-supported',
    'log-symbols',
    'stdin-discarder',
  ].map((name) => ['ora', name, NOTHING]),
  // It ends the process at SIGINT and SIGTERM, but imgctl finishes its work first.
  ['atomically', 'when-exit', 'module.exports = () => {};'],
];

/** Returns the code of a function that throws an error with the name of this file. */
function refusal(what) {
  return `function () { throw new Error('${what}: left out by tools/left-out.mjs'); }`;
}

function assert(holds) {
  if (!holds) throw new Error('an assertion of undici does not hold');
}

const PREFIX = '\0left-out:';
const COMPILING = 'new WebAssembly.Module(';
const COMPILER = fileURLToPath(import.meta.resolve('./compile-parser.cjs'));

export function leaveOut() {
  const unseen = new Set(LEFT_OUT.keys());
  return {
    name: 'leave-out',
    resolveId(source, importer = '') {
      const path = importer.replaceAll('\\', '/');
      const index = LEFT_OUT.findIndex(
        ([library, request]) => request === source && path.includes(`/node_modules/${library}/`),
      );
      if (index < 0) return undefined;
      unseen.delete(index);
      return `${PREFIX}${index}`;
    },
    load(id) {
      return id.startsWith(PREFIX) ? LEFT_OUT[id.slice(PREFIX.length)][2] : undefined;
    },
    transform(code, id) {
      if (!id.endsWith('client-h1.js')) return undefined;
      if (!code.includes(COMPILING))
        this.error(`${id} does not compile its parser by ${COMPILING}`);
      return code.replaceAll(COMPILING, `require(${JSON.stringify(COMPILER)})(`);
    },
    // Copying every export of Node's modules takes a millisecond; they can be inherited.
    renderChunk: (code) =>
      code.replace(
        /^(node_\w+) = require_rolldown_runtime\.\w+\(\1\);$/gm,
        '$1 = Object.create($1, { default: { value: $1 } });',
      ),
    buildEnd(error) {
      // If a library imports a module by another name, the bundle would silently contain it.
      const names = [...unseen].map((index) => LEFT_OUT[index].slice(0, 2).join(' '));
      if (!error && names.length > 0) this.error(`no library imports: ${names.join(', ')}`);
    },
  };
}
