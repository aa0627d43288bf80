// Preloaded: makes the program take a file for a terminal of COLUMNS columns.
'use strict';

const columns = Number(process.env.COLUMNS);
for (const stream of [process.stdout, process.stderr])
  Object.assign(stream, { isTTY: true, columns });
