// Preloaded into the program: makes its output files look like a terminal with COLUMNS columns.
'use strict';

const columns = Number(process.env.COLUMNS);
for (const stream of [process.stdout, process.stderr])
  Object.assign(stream, { isTTY: true, columns });
