// The PROPFIND request and its response: the files of a WebDAV folder.

import type { HttpResponse } from '../http/message.ts';
import { bodyOf } from './requests.ts';
import type { StoredFile } from './storage.ts';
import { findAll, parseXml, textOf } from './xml.ts';

const PROPERTIES = ['getcontentlength', 'getetag', 'getlastmodified', 'resourcetype'];

export const PROPFIND_BODY = bodyOf(
  Buffer.from(
    `<?xml version="1.0" encoding="utf-8"?><propfind xmlns="DAV:"><prop>${PROPERTIES.map((name) => `<${name}/>`).join('')}</prop></propfind>`,
  ),
);

export interface ListedFile extends StoredFile {
  readonly name: string;
  readonly isFolder: boolean;
}

/** Returns undefined if the body is no multistatus. */
export function findFiles({ body, url }: HttpResponse): ListedFile[] | undefined {
  const root = parseXml(body);
  if (root?.name !== 'multistatus') return undefined;
  return findAll(root, 'response').map((response) => {
    // A property that a file does not have comes with a status of its own, and empty.
    const etag = textOf(response, 'getetag') || undefined;
    const modified = textOf(response, 'getlastmodified') || undefined;
    return {
      name: nameOf(textOf(response, 'href') ?? '', url),
      isFolder: findAll(response, 'collection').length > 0,
      size: Number(textOf(response, 'getcontentlength') || 0),
      tag: etag ?? modified ?? null,
    };
  });
}

function nameOf(href: string, base: URL): string {
  const path = URL.canParse(href, base.href) ? new URL(href, base).pathname : href;
  const name = path.replace(/\/$/, '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
