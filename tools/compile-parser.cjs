// Compiles undici's HTTP parser; tools/left-out.mjs puts it in the place of `new WebAssembly.Module`.
'use strict';

/**
 * The module of these bytes; on Node 20 never optimised: that takes longer than a short run gains by it, and
 * 14 MB more in a long one.
 */
module.exports = function compile(bytes) {
  if (!process.versions.node.startsWith('20.')) return new WebAssembly.Module(bytes);
  const v8 = require('node:v8');
  v8.setFlagsFromString('--liftoff-only');
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    // With any flag changed, V8 refuses the code cache of those of Node's own modules that load later.
    v8.setFlagsFromString('--no-liftoff-only');
  }
};
