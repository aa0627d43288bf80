// Bundles the program and the library into few CommonJS chunks, since each costs a lookup and a read.

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'rolldown';
import { writeLicences } from './tools/licences.mjs';

export default defineConfig({
  // The library loads late what it needs beyond the core, which leaves the program's start-up as it is.
  input: { main: 'src/main.ts', library: 'src/library/index.ts' },
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
  // The group client below decides which chunk a module of http is in.
  checks: { ineffectiveDynamicImport: false },
  plugins: [writeLicences()],
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    minify: true,
    // import('node:tls') would start Node's loader of ES modules, and read every export of what it loads.
    dynamicImportInCjs: false,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
    codeSplitting: {
      groups: [
        // main: every run and the commands for images. client: every request. commands: all others.
        { name: 'main', tags: ['$initial'], test: /^(?!.*src[\\/]library)/, priority: 2 },
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
