// Preloaded into a Node program: prints its CPU time and peak memory on stderr when it exits.

'use strict';

const { readFileSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // On Linux maxRSS starts with the memory of the parent.
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const usage = { cpu: (userCPUTime + systemCPUTime) / 1e6, peak: kibibytes / 1024 };
  process.stderr.write(`\n${JSON.stringify(usage)}`);
});
