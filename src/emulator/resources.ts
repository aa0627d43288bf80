// The resources of the service and the handler of each method (section 4).

import type { SyncSubmitResponse, UserImageList } from '../api/types.ts';
import { type Auth, TOKEN_PATH } from './auth.ts';
import type { CatalogIndex } from './catalog-index.ts';
import { imageListResponse, imageResponse, processingTime } from './image-list.ts';
import type { ApiRequest } from './request.ts';
import { type ApiResponse, HttpError, jsonResponse } from './responses.ts';
import type { Handler, Resource } from './service.ts';
import type { Sync } from './sync.ts';

type UserHandler = (request: ApiRequest, user: string, id: string) => ApiResponse;

export function createResources(
  auth: Auth,
  catalog: CatalogIndex,
  sync: Sync,
  log: (line: string) => void,
): Resource[] {
  const withToken =
    (handle: UserHandler): Handler =>
    (request, id) =>
      handle(request, auth.authenticate(request), id);

  const listImagePage: UserHandler = (request, user) => imageListResponse(catalog, request, user);
  const getOneImage: UserHandler = (request, user, id) => imageResponse(catalog, request, user, id);

  // The contract shows no paging, filter or sort for this list, so their parameters have no effect.
  const listUserImages: UserHandler = (request, user) => {
    const data = sync.images(user);
    const image = `${request.baseUrl}/v2/user/image`;
    const list: UserImageList = {
      _links: { image, self: `${image}/vm` },
      data,
      meta: { count: data.length, time: processingTime(request), user },
    };
    return jsonResponse(200, list);
  };

  const submitSync: UserHandler = ({ baseUrl }, user) => {
    const { id, status, task_id } = sync.submit(user);
    const url = `${baseUrl}/v2/request/image_sync/${id}`;
    log(`mail to ${user}: image sync request ${id} was received; follow it at ${url}`);
    const body: SyncSubmitResponse = {
      status: 202,
      message: 'The image sync request was received.',
      request: { id, status, task_id },
      _links: { request: url },
    };
    return jsonResponse(202, body, { Location: url });
  };

  const getSyncRequest: UserHandler = (_request, user, id) => {
    const data = sync.get(user, id);
    if (data === undefined) throw new HttpError(404, `There is no image sync request ${id}.`);
    return jsonResponse(200, { data });
  };

  return [
    { path: new RegExp(`^${TOKEN_PATH}$`), methods: new Map([['POST', auth.requestToken]]) },
    { path: /^\/v2$/, methods: new Map([['GET', withToken(showService)]]) },
    { path: /^\/v2\/image$/, methods: new Map([['GET', withToken(listImagePage)]]) },
    { path: /^\/v2\/image\/([^/]+)$/, methods: new Map([['GET', withToken(getOneImage)]]) },
    {
      path: /^\/v2\/user\/image\/vm$/,
      methods: new Map([
        ['GET', withToken(listUserImages)],
        ['PATCH', withToken(submitSync)],
      ]),
    },
    {
      path: /^\/v2\/request\/image_sync\/([^/]+)$/,
      methods: new Map([['GET', withToken(getSyncRequest)]]),
    },
  ];
}

/** GET /v2; the contract does not show its body. */
function showService({ baseUrl }: ApiRequest, user: string): ApiResponse {
  return jsonResponse(200, {
    name: 'Image Deployment Service (embedded)',
    version: 'v2',
    user,
    _links: {
      self: `${baseUrl}/v2`,
      image: `${baseUrl}/v2/image`,
      user_image: `${baseUrl}/v2/user/image/vm`,
    },
  });
}
