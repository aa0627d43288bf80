// Libraries that catch signals as soon as they are loaded, without that.

const OURS = ['SIGINT', 'SIGTERM'] as const;

/**
 * Loads a library and takes away its handlers of SIGINT and SIGTERM: they would end the process at once,
 * before the command said what became of its request and put the terminal back.
 */
export async function withoutSignalHandlers<Module>(load: () => Promise<Module>): Promise<Module> {
  const known = new Set(OURS.flatMap((signal) => process.listeners(signal)));
  const library = await load();
  for (const signal of OURS) {
    for (const listener of process.listeners(signal)) {
      if (!known.has(listener)) process.off(signal, listener);
    }
  }
  return library;
}
