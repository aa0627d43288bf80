// Loaded before the program: lets a file at its output pass for a terminal, as wide as COLUMNS says.
'use strict';

const columns = Number(process.env.COLUMNS);
for (const stream of [process.stdout, process.stderr])
  Object.assign(stream, { isTTY: true, columns });
