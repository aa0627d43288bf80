// What the lists of a run share: the client, and what was learned of its service.

import { MAX_PER_PAGE } from '../api/images.ts';
import { FirstPages, type ListClient, type Source } from './first-pages.ts';
import { LikeProofs } from './like-proofs.ts';

export interface Service extends Source {
  readonly firstPages: FirstPages;
  readonly like: LikeProofs;
}

export type SourceOptions = Partial<Pick<Source, 'perPage' | 'trace'>>;

export function serviceOf(
  client: ListClient,
  { perPage = MAX_PER_PAGE, trace = () => {} }: SourceOptions = {},
): Service {
  const source = { client, perPage, trace };
  const firstPages = new FirstPages(source);
  return { ...source, firstPages, like: new LikeProofs(firstPages, trace) };
}
