// Image sync requests and the user images that come of them (sections 2.5, 4.5 to 4.7).
// The user's upload folder is read when the request is submitted; the request ends when that is done and the
// delay has passed. Until then it is PENDING for the first third of the delay, then IN_PROGRESS. It ends as
// ERROR when there were errors and not one package could be taken, else as PROCESSED: good packages go through.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Image, SyncRequestRecord } from '../api/types.ts';
import type { Settings } from './options.ts';
import { formatTimestamp } from './timestamp.ts';
import {
  type Changes,
  createUserImages,
  type Scan,
  scanUploads,
  type UserImages,
} from './user-images.ts';

/** User images are numbered from here, far above the catalogue's. */
const FIRST_IMAGE_ID = 1_000_001;

/** What there is to read without an uploads folder. */
const NOTHING: Scan = {
  present: new Set(),
  packages: [],
  errors: [],
  warnings: ['this service was started without an uploads folder'],
};

export interface Sync {
  /** Submits a request. */
  submit(user: string): SyncRequestRecord;
  /** The user's request whose id is written so, as it stands now. */
  get(user: string, id: string): SyncRequestRecord | undefined;
  /** The user's images as the last request left them that has ended. */
  images(user: string): Image[];
}

interface SyncRequest {
  readonly id: number;
  readonly taskId: string;
  readonly created: number;
  /** What was read, and when; undefined while it is being read. */
  scanned: { readonly scan: Scan; readonly at: number } | undefined;
  /** What came of it, and when; undefined until it has ended. */
  ended: { readonly scan: Scan; readonly changes: Changes; readonly at: number } | undefined;
}

interface Account {
  readonly images: UserImages;
  readonly requests: SyncRequest[];
  /** Ends when the folder was read for the last request: requests of a user read one after the other. */
  reading: Promise<void>;
}

/** The sync requests of all users; reading stops when the signal aborts. */
export function createSync(settings: Settings, signal: AbortSignal): Sync {
  const { now, syncDelay, uploads } = settings;
  const accounts = new Map<string, Account>();
  let lastRequestId = 0;
  let lastImageId = FIRST_IMAGE_ID - 1;

  const nextImageId = () => {
    lastImageId += 1;
    return lastImageId;
  };

  /** The account as of now: whatever is due has been applied to its images. */
  const accountOf = (user: string): Account => {
    const account = accounts.get(user) ?? {
      images: createUserImages(nextImageId),
      requests: [],
      reading: Promise.resolve(),
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
    const scan = uploads === undefined ? NOTHING : await scanUploads(join(uploads, user), signal);
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
      created_on: formatTimestamp(request.created),
      updated_on: formatTimestamp(updated),
      task_id: request.taskId,
      user: { username: user },
      message: { errors: [...(scan?.errors ?? [])], warnings: [...(scan?.warnings ?? [])] },
    };
  };

  return {
    submit: (user) => {
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
      account.reading = account.reading.then(() => scanFor(user, request));
      return recordOf(user, request);
    },
    get: (user, id) => {
      const request = accountOf(user).requests.find((candidate) => String(candidate.id) === id);
      return request === undefined ? undefined : recordOf(user, request);
    },
    images: (user) => accountOf(user).images.list(),
  };
}

/** The status of a request and since when it has been so. */
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
