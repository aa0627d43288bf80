// All resources of the service and what answers on each of their methods (section 4).

import type { SyncSubmitAnswer, UserImageList } from '../api/types.ts';
import { type Auth, TOKEN_PATH } from './auth.ts';
import type { CatalogIndex } from './catalog-index.ts';
import { getImage, listImages, processingTime } from './image-list.ts';
import type { ApiRequest } from './request.ts';
import { type Answer, jsonAnswer, Refusal } from './responses.ts';
import type { Handler, Resource } from './service.ts';
import type { Sync } from './sync.ts';

type UserHandler = (request: ApiRequest, user: string, id: string) => Answer;

/** The resources over the parts of one running service; `log` takes the mails that it would send. */
export function createResources(
  auth: Auth,
  catalog: CatalogIndex,
  sync: Sync,
  log: (line: string) => void,
): Resource[] {
  /** Every request but the token request needs a token (section 1). */
  const withToken =
    (handle: UserHandler): Handler =>
    (request, id) =>
      handle(request, auth.authenticate(request), id);

  const listImagePage: UserHandler = (request, user) => listImages(catalog, request, user);
  const getOneImage: UserHandler = (request, user, id) => getImage(catalog, request, user, id);

  // Paging, filter and sort are "not shown" for this list: their parameters have no effect here.
  const listUserImages: UserHandler = (request, user) => {
    const data = sync.images(user);
    const image = `${request.baseUrl}/v2/user/image`;
    const list: UserImageList = {
      _links: { image, self: `${image}/vm` },
      data,
      meta: { count: data.length, time: processingTime(request), user },
    };
    return jsonAnswer(200, list);
  };

  const submitSync: UserHandler = ({ baseUrl }, user) => {
    const { id, status, task_id } = sync.submit(user);
    const url = `${baseUrl}/v2/request/image_sync/${id}`;
    log(`mail to ${user}: image sync request ${id} was received; follow it at ${url}`);
    const answer: SyncSubmitAnswer = {
      status: 202,
      message: 'The image sync request was received.',
      request: { id, status, task_id },
      _links: { request: url },
    };
    return jsonAnswer(202, answer, { Location: url });
  };

  const getSyncRequest: UserHandler = (_request, user, id) => {
    const data = sync.get(user, id);
    if (data === undefined) throw new Refusal(404, `There is no image sync request ${id}.`);
    return jsonAnswer(200, { data });
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

/** GET /v2; its body is "not shown". */
function showService({ baseUrl }: ApiRequest, user: string): Answer {
  return jsonAnswer(200, {
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
