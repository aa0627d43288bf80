// Keeps V8 of Node 20 from optimising undici's parser, which costs each command 80 ms of CPU time.

// undici compiles its parser when it gets its first socket. All flags are set back, as V8 refuses
// stored code while any of them differs.
const QUICK = ['--no-wasm-lazy-compilation', '--liftoff-only'];
const NORMAL = [
  '--wasm-lazy-compilation',
  '--no-liftoff-only',
  // `--liftoff-only` turns these off too.
  '--wasm-tier-up',
  '--wasm-dynamic-tiering',
];
let isParserCompiled = !process.versions.node.startsWith('20.');

/** Hands a socket to undici, which compiles its parser when it gets the first one. */
export function withoutOptimising(handOver: () => void): void {
  const v8 = isParserCompiled ? undefined : process.getBuiltinModule('node:v8');
  isParserCompiled = true;
  for (const flag of QUICK) v8?.setFlagsFromString(flag);
  try {
    handOver();
  } finally {
    for (const flag of NORMAL) v8?.setFlagsFromString(flag);
  }
}
