// Compiles undici's HTTP parser; scripts/left-out.mjs puts it in the place of `new WebAssembly.Module`.
'use strict';

const v8 = require('node:v8');

const UNOPTIMISED = ['--wasm-tiering-budget=1000000000'];
// As they were: with any flag changed, V8 refuses the code cache of Node's own modules loaded later.
const DEFAULTS = ['--wasm-tiering-budget=1800000'];

/** The module of these bytes; on Node 20 never optimised, which takes longer than any run gains by it. */
module.exports = function compile(bytes) {
  const optimises = process.versions.node.startsWith('20.');
  if (optimises) setFlags(UNOPTIMISED);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    if (optimises) setFlags(DEFAULTS);
  }
};

function setFlags(flags) {
  for (const flag of flags) v8.setFlagsFromString(flag);
}
