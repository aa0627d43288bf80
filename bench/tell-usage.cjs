// Loaded into a Node program before its own code: at its end it says its CPU time and peak memory on stderr.

'use strict';

const { readFileSync } = require('node:fs');

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  // Not maxRSS: on Linux that begins with what the parent held when it started this process.
  const [, kibibytes] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
  const usage = { cpu: (userCPUTime + systemCPUTime) / 1e6, peak: kibibytes / 1024 };
  process.stderr.write(`\n${JSON.stringify(usage)}`);
});
