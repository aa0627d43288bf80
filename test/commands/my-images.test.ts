// my-images: local queries, with the options and formats of images list.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { idsOf, testImage } from '../support/catalogue-page.ts';
import type { Handler } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

const own = (id: number, name: string, updated: string): Image => {
  const image = testImage(id);
  return { ...image, name, label: name, folder: null, public: false, updated_on: updated };
};
const IMAGES = [
  own(3, 'web.ova', '2024-03-01 Fri 10:00:00 EST'),
  own(1, 'db.ova', '2024-03-01 Fri 14:30:00 UTC'),
  own(2, 'web-old.ova', '2023-01-02 Mon 09:00:00 UTC'),
];

const serving =
  (data: readonly Image[]): Handler =>
  ({ url }) => ({
    json: {
      _links: { image: `${url.origin}/v2/user/image`, self: url.href },
      data,
      meta: { count: data.length, time: '0.1s', user: 'tester' },
    },
  });

async function myImages(options: string, handler = serving(IMAGES)) {
  const { imgctl, requests } = await scriptedUser(handler);
  const result = await imgctl(`my-images ${options}`);
  return { ...result, requests: requests() };
}

describe('my-images', () => {
  it.each([
    ['', [3, 1, 2]],
    ['web', [3, 2]],
    // 10:00 in New York is 15:00 UTC.
    ['-s updated_on,desc', [3, 1, 2]],
    ['-s updated_on,desc --limit 1', [3]],
    ['-f updated_on,ge,2024-03-01T14:45:00Z', [3]],
    ['-f public,eq,false -f folder,eq,null -f id,ne,1', [3, 2]],
    ['-f name,like,%.OVA -f id,in,1,2', [1, 2]],
  ])('filters, sorts and limits locally: %s', async (options, ids) => {
    const { stdout, stderr, requests } = await myImages(`${options} -o json`);
    expect(idsOf(stdout)).toEqual(ids);
    expect({ stderr, requests }).toEqual({ stderr: '', requests: ['GET /v2/user/image/vm'] });
  });

  it('prints a table of id, name, path and updated_on', async () => {
    const { stdout } = await myImages('--time wire --limit 1');
    expect(stdout).toBe(
      'id  name     path                           updated_on\n' +
        ' 3  web.ova  [images] linux/image-0003.ova  2024-03-01 Fri 10:00:00 EST\n',
    );
  });

  it('prints the meta of the service with its own count for --meta', async () => {
    const { stdout } = await myImages('web --json --meta');
    expect(JSON.parse(stdout)).toEqual({
      data: [IMAGES[0], IMAGES[2]],
      meta: { count: 2, time: '0.1s', user: 'tester' },
    });
  });

  it.each([
    ['', [], 'imgctl: no images yet\nhint: upload one with: imgctl push FILE\n', 0],
    ['none', IMAGES, 'imgctl: no images match\n', 0],
    ['none --fail-empty', IMAGES, 'imgctl: no images match\n', 5],
    ['none -o ndjson', IMAGES, '', 0],
  ])('prints nothing if no images match: %s', async (options, images, stderr, exitCode) => {
    expect(await myImages(options, serving(images))).toMatchObject({
      stdout: '',
      stderr,
      exitCode,
    });
  });
});
