// Builds dist/ anew, without the list of files that the command of rolldown prints, which would come before the demo.

import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import config from '../rolldown.config.mjs';

// Not by rolldown's cleanDir: it builds both configurations at once, and one would delete the file of the other.
rmSync(fileURLToPath(import.meta.resolve('../dist/')), { recursive: true, force: true });
await build(config);
