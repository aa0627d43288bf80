// Builds dist/ without the list of files that the command of rolldown prints, which would come before the demo.

import { build } from 'rolldown';
import config from '../rolldown.config.mjs';

await build(config);
