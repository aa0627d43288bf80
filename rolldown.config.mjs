// Bundles the program and the library into CommonJS chunks, few of them: each costs a look-up and a read.

import { defineConfig } from 'rolldown';
import { leaveOut } from './tools/left-out.mjs';
import { writeLicences } from './tools/licences.mjs';

const LISTING = [
  'query|catalogue|api/paging',
  'commands/(images|listing|options)',
  'session/(history|image-names|token-cache)',
  'files/(atomic-file|paths)',
];

export default defineConfig({
  // What the library needs beyond the core it loads late, so that the program's start-up stays as it is.
  input: { main: 'src/main.ts', library: 'src/library/index.ts' },
  platform: 'node',
  plugins: [leaveOut(), writeLicences()],
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
        // What every run loads; what the listings take, whose help needs no request, and what completion, logout
        // and profile read of the disk, so that they load no client; what a request takes. child loads
        // node:child_process, which costs a tenth of a start-up.
        { name: 'core', tags: ['$initial'], test: /^(?!.*src[\\/]library)/, priority: 3 },
        {
          name: 'listing',
          test: new RegExp(`src/(${LISTING.join('|')})`.replaceAll('/', '[\\\\/]')),
          priority: 2,
        },
        {
          name: 'client',
          test: /[\\/]undici[\\/]|src[\\/](session[\\/](?!child|keychain)|api[\\/](?!proxy))/,
          priority: 1,
        },
      ],
    },
  },
});
