// Listens to an abort signal without keeping what it was called back for.

/**
 * Calls back when the signal aborts, unless the function that it returns is called before.
 *
 * In Node a listener that was removed still points to the next one. Once V8 has moved one of them to its old
 * generation, all later ones follow, with what they hold. So only the callback holds the response, and is dropped.
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
