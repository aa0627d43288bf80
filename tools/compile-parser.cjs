// Compiles undici's HTTP parser; tools/left-out.mjs uses it instead of `new WebAssembly.Module`.
'use strict';

/**
 * Returns the module of these bytes. On Node 20 V8 never optimises it: optimising takes a short run more time than it
 * saves, and a long run 14 MB.
 */
module.exports = function compile(bytes) {
  if (!process.versions.node.startsWith('20.')) return new WebAssembly.Module(bytes);
  const v8 = require('node:v8');
  v8.setFlagsFromString('--liftoff-only');
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    // While a flag differs, V8 refuses the code cache of Node's own modules.
    v8.setFlagsFromString('--no-liftoff-only');
  }
};
