// Image sync requests and the user images they produce (sections 2.5, 4.5 to 4.7).
// Submitting a request scans the upload folder. The request ends once the scan is done and the delay has passed:
// PENDING for the first third of the delay, then IN_PROGRESS, then PROCESSED, or ERROR without a good package.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Image, SyncRequestRecord } from '../api/types.ts';
import type { EmulatorSettings } from './options.ts';
import { serviceTimestamp } from './timestamp.ts';
import {
  type Changes,
  createUserImageStore,
  type Scan,
  scanUploads,
  type UserImageStore,
} from './user-images.ts';

/** Far above the ids of the catalogue. */
const FIRST_IMAGE_ID = 1_000_001;

const NO_UPLOADS_FOLDER: Scan = {
  present: new Set(),
  packages: [],
  errors: [],
  warnings: ['this service was started without an uploads folder'],
};

export type Sync = ReturnType<typeof createSync>;

interface SyncRequest {
  readonly id: number;
  readonly taskId: string;
  readonly created: number;
  /** Undefined while the folder is being scanned. */
  scanned: { readonly scan: Scan; readonly at: number } | undefined;
  ended: { readonly scan: Scan; readonly changes: Changes; readonly at: number } | undefined;
}

interface Account {
  readonly images: UserImageStore;
  readonly requests: SyncRequest[];
  /** Settles after the last scan: a user's scans run one after the other. */
  scanning: Promise<void>;
}

export function createSync(settings: EmulatorSettings, signal: AbortSignal) {
  const { now, syncDelay, uploads } = settings;
  const accounts = new Map<string, Account>();
  let lastRequestId = 0;
  let lastImageId = FIRST_IMAGE_ID - 1;

  const nextImageId = () => {
    lastImageId += 1;
    return lastImageId;
  };

  /** Returns the account after applying every request that is due. */
  const accountOf = (user: string): Account => {
    const account = accounts.get(user) ?? {
      images: createUserImageStore(nextImageId),
      requests: [],
      scanning: Promise.resolve(),
    };
    accounts.set(user, account);
    for (const request of account.requests.filter(({ ended }) => ended === undefined)) {
      if (request.scanned === undefined) break;
      const { scan, at: scannedAt } = request.scanned;
      const at = Math.max(scannedAt, request.created + syncDelay);
      if (now() < at) break;
      request.ended = { scan, at, changes: account.images.apply(scan, at) };
    }
    return account;
  };

  const scanFor = async (user: string, request: SyncRequest): Promise<void> => {
    const scan =
      uploads === undefined ? NO_UPLOADS_FOLDER : await scanUploads(join(uploads, user), signal);
    request.scanned = { scan, at: now() };
  };

  const recordOf = (user: string, request: SyncRequest): SyncRequestRecord => {
    const { status, updated } = progressOf(request, now(), syncDelay);
    const changes = request.ended?.changes;
    const scan = request.ended?.scan;
    return {
      id: request.id,
      status,
      type: 'image_sync',
      added: changes?.added ?? null,
      deleted: changes?.deleted ?? null,
      created_on: serviceTimestamp(request.created),
      updated_on: serviceTimestamp(updated),
      task_id: request.taskId,
      user: { username: user },
      message: { errors: [...(scan?.errors ?? [])], warnings: [...(scan?.warnings ?? [])] },
    };
  };

  return {
    submit: (user: string): SyncRequestRecord => {
      const account = accountOf(user);
      lastRequestId += 1;
      const request: SyncRequest = {
        id: lastRequestId,
        taskId: randomUUID(),
        created: now(),
        scanned: undefined,
        ended: undefined,
      };
      account.requests.push(request);
      account.scanning = account.scanning.then(() => scanFor(user, request));
      return recordOf(user, request);
    },
    get: (user: string, id: string): SyncRequestRecord | undefined => {
      const request = accountOf(user).requests.find((candidate) => String(candidate.id) === id);
      return request === undefined ? undefined : recordOf(user, request);
    },
    /** Returns the user's images as of the last finished request. */
    images: (user: string): Image[] => accountOf(user).images.list(),
  };
}

function progressOf({ created, ended }: SyncRequest, now: number, delay: number) {
  if (ended !== undefined) {
    const failed = ended.scan.errors.length > 0 && ended.scan.packages.length === 0;
    return { status: failed ? 'ERROR' : 'PROCESSED', updated: ended.at };
  }
  const begun = created + delay / 3;
  return now < begun
    ? { status: 'PENDING', updated: created }
    : { status: 'IN_PROGRESS', updated: begun };
}
