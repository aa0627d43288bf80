// What the lists of a run share: the client, and what was learned of its service.

import type { Client } from '../api/client.ts';
import { FirstPages } from './first-pages.ts';
import { LikeProofs } from './like-proofs.ts';

type ListClient = Pick<Client, 'listImages' | 'connections'>;

export interface Service {
  readonly client: ListClient;
  readonly firstPages: FirstPages;
  readonly like: LikeProofs;
  /** Receives what only --debug shows. */
  readonly trace: (text: string) => void;
}

export function serviceOf(client: ListClient, trace: Service['trace'] = () => {}): Service {
  const firstPages = new FirstPages(client, trace);
  return { client, firstPages, like: new LikeProofs(firstPages, trace), trace };
}
