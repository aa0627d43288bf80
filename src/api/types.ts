// Records as the service sends them, by service.md. Each may hold further fields.

import type { JsonObject } from '../json.ts';

/** An expanded image, section 2.2. A type, since an interface has no index signature. */
export type Image = {
  id: number;
  /** File name of the OVA or OVF. */
  name: string;
  /** `[<data store>] <folder>/<file name>` */
  path: string;
  /** `<folder>/<file name>`, or the file name alone. */
  label: string;
  /** null for the user's own images. */
  folder: string | null;
  data_store: string;
  public: boolean;
  /** `YYYY-MM-DD Www HH:MM:SS ZZZ` */
  created_on: string;
  updated_on: string;
};

/** An image as received: fields may be missing, of another type, or unknown. */
export type ReceivedImage = { readonly [Field in keyof Image]?: unknown } & JsonObject;

/** Navigation of a paged list, section 2.4. */
export interface Pages {
  first_url: string;
  last_url: string;
  next_url: string | null;
  prev_url: string | null;
  page: number;
  pages: number;
  /** Results per page, at most 100. */
  per_page: number;
  /** Number of results on all pages, after filtering. */
  total: number;
}

/** meta of the public image list, section 2.3. */
export interface ImageListMeta {
  _link: { self: string };
  count: number;
  pages: Pages;
  /** Only if one was sent. */
  filter?: string;
  sort?: string;
  /** Decimal seconds followed by "s". */
  time: string;
  user: string;
}
