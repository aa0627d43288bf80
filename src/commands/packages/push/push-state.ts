// What a push works with, once its packages are checked and it has the storage for itself.

import type { Parsed } from '../../../cli/declare.ts';
import type { Context } from '../../../context.ts';
import type { AssertHeld } from '../../../files/atomic-file.ts';
import type { Row } from '../../../output/columns.ts';
import type { Output } from '../../../output/output.ts';
import type { Transfer } from '../../../upload/plan.ts';
import type { Storage } from '../../../upload/storage.ts';
import type { StorageFiles } from '../../upload-storage.ts';
import type { PackageBatch } from '../package-batch.ts';
import type { OPTIONS } from './options.ts';
import { SyncedMark } from './synced-mark.ts';

/** What a push knows before it compares its packages with the storage. */
export interface Push {
  readonly context: Context;
  readonly options: Parsed<typeof OPTIONS>;
  readonly output: Output;
  /** Reports and counts the packages that fail. */
  readonly batch: PackageBatch;
  /** The storage, and how files are compared and sent. */
  readonly transfer: Transfer;
  /** Whether the service has synced all that this machine has made visible in the storage. */
  readonly mark: SyncedMark;
  /** The user's images before the push; none with --no-sync. */
  readonly before: readonly Row[];
}

/** @param assertHeld throws if another push has taken over the storage */
export async function preparePush(
  begun: Pick<Push, 'context' | 'options' | 'output' | 'batch'>,
  opened: { readonly storage: Storage; readonly files: StorageFiles },
  assertHeld: AssertHeld,
): Promise<Push> {
  const { loadProofs } = await import('../../../upload/proofs.ts');
  const { io } = begun.context;
  const { sync, onConflict, dryRun = false } = begun.options;
  const { storage, files } = opened;
  const session = sync ? await begun.context.session() : undefined;
  const { baseUrl = '', username = '' } = session?.account ?? {};
  const mark = new SyncedMark(files.state, [...files.key, baseUrl, username], io.system.uid);
  const before = session ? (await session.client.listUserImages()).images : [];
  const transfer = {
    storage,
    proofs: loadProofs(files.proofs, io),
    clock: io,
    onConflict,
    dryRun,
    assertHeld,
    beforeVisible: () => mark.remove(),
    visible: new Map(),
  };
  return { ...begun, transfer, mark, before };
}
