// A small server for `hcloud image list`, with the part of hcloud's API that it needs.

import { createServer } from 'node:http';

/** Serves this number of images with GET /v1/images?page&per_page; latency is in milliseconds. */
export async function startHcloudService(images, latency) {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url, 'http://127.0.0.1');
    const page = Number(searchParams.get('page') ?? 1);
    const perPage = Math.min(50, Number(searchParams.get('per_page') ?? 25));
    const last = Math.ceil(images / perPage);
    const first = (page - 1) * perPage;
    const count = Math.max(0, Math.min(perPage, images - first));
    const body = JSON.stringify({
      images: Array.from({ length: count }, (_, index) => imageOf(first + index + 1)),
      meta: {
        pagination: {
          page,
          per_page: perPage,
          previous_page: page > 1 ? page - 1 : null,
          next_page: page < last ? page + 1 : null,
          last_page: last,
          total_entries: images,
        },
      },
    });
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
    }, latency);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${server.address().port}/v1`,
    close: () => server.close(),
  };
}

function imageOf(id) {
  return {
    id,
    type: 'snapshot',
    status: 'available',
    name: `ubuntu-22.04-server-${id}`,
    description: 'Ubuntu 22.04',
    image_size: 2.3,
    disk_size: 10,
    created: '2024-05-01T10:00:00+00:00',
    created_from: null,
    bound_to: null,
    os_flavor: 'ubuntu',
    os_version: '22.04',
    rapid_deploy: false,
    protection: { delete: false },
    deprecated: null,
    labels: {},
  };
}
