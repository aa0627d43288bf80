// Bundles the program into few CommonJS chunks, since each costs a lookup and a read, and what the launcher loads before
// it, and the library, into one file each.

import { isBuiltin } from 'node:module';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { writeLicences } from './tools/licences.mjs';

const common = defineConfig({
  platform: 'node',
  resolve: {
    // test/tools/bundle.test.ts fails if a library no longer imports one of these.
    alias: {
      // HTTP/2 loads node:http2; imgctl offers only HTTP/1.1.
      './client-h2.js': false,
      // Forms as bodies need all of fetch; imgctl sends none.
      '../web/fetch/body.js': false,
      // atomically, which conf uses, lets it end the process at SIGINT, but imgctl finishes its work first.
      'when-exit': fileURLToPath(import.meta.resolve('./tools/when-exit.mjs')),
    },
  },
  checks: { ineffectiveDynamicImport: false },
});

const program = defineConfig({
  ...common,
  input: { main: 'src/main.ts' },
  plugins: [writeLicences()],
  output: {
    dir: 'dist',
    format: 'cjs',
    minify: true,
    // import('node:tls') would start Node's loader of ES modules, and read every export of what it loads.
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      groups: [
        // main: every run and the commands for images. client: every request. commands: all others.
        { name: 'main', tags: ['$initial'], priority: 2 },
        {
          name: 'client',
          test: /[\\/]undici[\\/]|src[\\/](api|http)[\\/]/,
          priority: 1,
        },
        { name: 'commands', test: /src[\\/](catalogue|cli|commands|files|query)[\\/]/ },
      ],
    },
  },
});

/** Takes Node's modules from `process`: bundlers that make an ES module of the library leave no `require` to it. */
const builtinModules = {
  name: 'builtin-modules',
  resolveId: (id) => (isBuiltin(id) ? `\0builtin:${id}.cjs` : null),
  load(id) {
    const [, name] = /^\0builtin:(.*)\.cjs$/.exec(id) ?? [];
    return name ? `module.exports = process.getBuiltinModule('${name}');` : null;
  },
};

const oneFile = {
  dir: 'dist',
  format: 'cjs',
  minify: true,
  entryFileNames: '[name].cjs',
  codeSplitting: false,
};

const storedCode = defineConfig({
  ...common,
  input: { 'stored-code': 'src/stored-code.ts' },
  output: oneFile,
});

export const library = defineConfig({
  ...common,
  input: { library: 'src/library/index.ts' },
  plugins: [builtinModules],
  output: oneFile,
});

export default [program, storedCode, library];
