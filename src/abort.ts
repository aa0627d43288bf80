// Waits for an abort signal, and keeps nothing in memory of those that no longer wait.

/**
 * Calls back when the signal aborts, unless the function that it returns is called before.
 *
 * In Node a listener that was removed still points to the next one. Once V8 has moved one of them
 * to its old generation, all later ones follow, with what they hold. So only the callback holds the
 * response, and is dropped.
 */
export function atAbort(signal: AbortSignal, callback: () => void): () => void {
  let current: (() => void) | undefined = callback;
  const listener = () => current?.();
  signal.addEventListener('abort', listener, { once: true });
  return () => {
    signal.removeEventListener('abort', listener);
    current = undefined;
  };
}

/**
 * Settles like the work, or rejects when the signal aborts: it may take for ever to open a pipe
 * that nobody writes to.
 */
export function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    const forget = atAbort(signal, abort);
    work.then(resolve, reject).finally(forget);
  });
}
