// Bundles src/main.ts and all it needs into CommonJS chunks: one for each lazy import, loaded on demand.

import { defineConfig } from 'rolldown';

export default defineConfig({
  input: { main: 'src/main.ts' },
  platform: 'node',
  output: {
    dir: 'dist',
    format: 'cjs',
    cleanDir: true,
    minify: true,
    entryFileNames: '[name].cjs',
    chunkFileNames: 'chunks/[name]-[hash].cjs',
  },
});
