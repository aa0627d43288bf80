// Loaded into a Node program before its own code: at its end it says its CPU time and peak memory on stderr.

'use strict';

process.on('exit', () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  process.stderr.write(
    `\n${JSON.stringify({ cpu: (userCPUTime + systemCPUTime) / 1e6, peak: maxRSS / 1024 })}`,
  );
});
