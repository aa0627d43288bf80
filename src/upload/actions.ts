// What a push does with a file. A command can import this without loading the storages.

export type Action = 'upload' | 'replace' | 'unchanged' | 'skip' | 'conflict';

export function isSent({ action }: { readonly action: Action }): boolean {
  return action === 'upload' || action === 'replace';
}

export function isSkipped({ action }: { readonly action: Action }): boolean {
  return action === 'skip';
}
