// A user's own images: what a read upload folder adds, changes and takes away.

import type { Image } from '../api/types.ts';
import { formatTimestamp } from './timestamp.ts';
import type { Scan } from './uploads.ts';

const DATA_STORE = 'user-images-01';

interface UserImage {
  readonly image: Image;
  /** That of the file it was made from. */
  readonly version: string;
}

/** What a scan changed, by file name. */
export interface Changes {
  readonly added: string[];
  readonly deleted: string[];
}

export interface UserImages {
  list(): Image[];
  /**
   * Takes over what was read at that instant. An image whose file is there but can't be taken any more
   * stays as it was; one whose file has gone goes too.
   */
  apply(scan: Scan, at: number): Changes;
}

/** The images of one user; `nextId` gives a number that no image had before. */
export function createUserImages(nextId: () => number): UserImages {
  const images = new Map<string, UserImage>();

  const put = (name: string, version: string, at: number): boolean => {
    const known = images.get(name);
    if (known?.version === version) return false;
    const now = formatTimestamp(at);
    const image = known?.image ?? newImage(nextId(), name, now);
    images.set(name, { image: { ...image, updated_on: now }, version });
    return known === undefined;
  };

  return {
    list: () => [...images.values()].map(({ image }) => image),
    apply: ({ present, packages }, at) => {
      const deleted = [...images.keys()].filter((name) => present?.has(name) === false);
      for (const name of deleted) images.delete(name);
      const added = packages.filter(({ name, version }) => put(name, version, at));
      return { added: added.map(({ name }) => name), deleted };
    },
  };
}

function newImage(id: number, name: string, now: string): Image {
  return {
    id,
    name,
    path: `[${DATA_STORE}] ${name}`,
    label: name,
    folder: null,
    data_store: DATA_STORE,
    public: false,
    created_on: now,
    updated_on: now,
  };
}
