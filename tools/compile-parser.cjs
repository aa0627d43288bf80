// Compiles undici's HTTP parser; tools/left-out.mjs uses it instead of `new WebAssembly.Module`.
'use strict';

/** V8's flags on Node 20 and their defaults: `liftoff-only` also turns off the two after it, for good. */
const FLAGS = {
  'liftoff-only': false,
  'wasm-tier-up': true,
  'wasm-dynamic-tiering': true,
  'wasm-lazy-compilation': true,
};

/**
 * Returns the module of these bytes. On Node 20 V8 never optimises it: optimising takes a short run more time than it
 * saves, and a long run 14 MB.
 */
module.exports = function compile(bytes) {
  if (!process.versions.node.startsWith('20.')) return new WebAssembly.Module(bytes);
  const v8 = require('node:v8');
  const set = (name, on) => v8.setFlagsFromString(on ? `--${name}` : `--no-${name}`);
  // The whole module is compiled now, because code that is compiled later would be optimised.
  set('wasm-lazy-compilation', false);
  set('liftoff-only', true);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    // While a flag differs, V8 refuses the code cache of every module.
    for (const [name, on] of Object.entries(FLAGS)) set(name, on);
  }
};
