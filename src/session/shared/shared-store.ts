// The names that commands still import from here.

export type { SharedStore } from '../shared-store.ts';
