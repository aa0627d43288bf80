// Measures the CPU time of this process, which other work on the machine does not change as it changes time.

/** Returns the seconds of CPU time that an action takes, without those of the system. */
export async function cpuSeconds(action: () => unknown): Promise<number> {
  const start = process.cpuUsage();
  await action();
  return process.cpuUsage(start).user / 1e6;
}
