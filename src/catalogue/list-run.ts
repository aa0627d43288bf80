// What the lists of a run share: the client, and what was learned of its service.

import { MAX_PER_PAGE } from '../api/images.ts';
import { FirstPages, type ListClient, type ListSetup } from './first-pages.ts';
import { IdOrder } from './id-order.ts';
import { LikeProofs } from './like-proofs.ts';

export interface ListRun extends ListSetup {
  readonly firstPages: FirstPages;
  readonly idOrder: IdOrder;
  readonly likeProofs: LikeProofs;
}

export type ListRunOptions = Partial<Pick<ListSetup, 'perPage' | 'trace'>>;

export function startListRun(
  client: ListClient,
  { perPage = MAX_PER_PAGE, trace = () => {} }: ListRunOptions = {},
): ListRun {
  const setup = { client, perPage, trace };
  const firstPages = new FirstPages(setup);
  const idOrder = new IdOrder(firstPages);
  return { ...setup, firstPages, idOrder, likeProofs: new LikeProofs(firstPages, trace) };
}
