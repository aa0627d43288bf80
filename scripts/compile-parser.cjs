// Compiles undici's HTTP parser; scripts/left-out.mjs puts it in the place of `new WebAssembly.Module`.
'use strict';

/** How much a function of WebAssembly does before V8 optimises it. */
const NEVER = '--wasm-tiering-budget=1000000000';
const DEFAULT_ON_NODE_20 = '--wasm-tiering-budget=1800000';

/** The module of these bytes; on Node 20 never optimised, which takes longer than a run gains by it. */
module.exports = function compile(bytes) {
  if (!process.versions.node.startsWith('20.')) return new WebAssembly.Module(bytes);
  const v8 = require('node:v8');
  v8.setFlagsFromString(NEVER);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    // With any flag changed, V8 refuses the code cache of those of Node's own modules that load later.
    v8.setFlagsFromString(DEFAULT_ON_NODE_20);
  }
};
