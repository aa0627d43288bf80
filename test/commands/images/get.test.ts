// images get: by id, name, path, label and URL, one and several arguments.

import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Image } from '../../../src/api/types.ts';
import { catalogueByName, catalogueOf, named, testImages } from '../../support/catalogue-page.ts';
import { failed, temporaryDirectory } from '../../support/io.ts';
import type { Handler } from '../../support/scripted-server.ts';
import { expectSteps } from '../../support/steps.ts';
import { localUser, scriptedUser } from '../../support/users.ts';
import { images as ownImages } from '../packages/sync-harness.ts';

/** Serves images by id and lists; applies only eq filters and words. */
function serving(images: readonly Image[]): Handler {
  return (request, index) => {
    const { pathname, searchParams } = request.url;
    if (/\d$/.test(pathname)) return catalogueByName(images)(request, index);
    const filter = searchParams.get('filter') ?? '';
    if (filter.startsWith('name,like')) return catalogueByName(images)(request, index);
    const [, field, value] = /^(\w+),eq,(.*)$/.exec(filter) ?? [];
    const found = images.filter((image) => field === undefined || { ...image }[field] === value);
    return catalogueOf(found)(request, index);
  };
}

/** Serves lists only, as section 4.4 leaves open what GET /v2/image/<id> is, and filters no labels. */
const listsOnly =
  (status: number): Handler =>
  (request, index) =>
    /\d$|label/.test(request.url.pathname + request.url.search)
      ? { status }
      : catalogueOf(testImages(3))(request, index);

const twins = [named(7, 'twin.ova'), named(9, 'twin.ova')];
const digits = named(12, '2024');
const odd = [named(13, 'null', { label: '2024' }), named(14, 'web,in,a'), named(15, 'a,b-3.ova')];
const large = named(1_234_567_890_123_456, 'large.ova');
const images = [...testImages(3), ...twins, digits, ...odd, large];
const get = async (line: string, handler = serving(images)) =>
  (await scriptedUser(handler)).imgctl(`images get ${line}`);

describe('images get', () => {
  it.each<[string, number]>([
    ['2', 2],
    ['image-0003.ova', 3],
    ['2024', 12],
    ['null', 13],
    ['web,in,a', 14],
    ['a,b-3.ova', 15],
    ['linux/image-0003.ova', 3],
    ["'[images] linux/image-0003.ova'", 3],
    ['BASE/v2/image/3', 3],
    ['BASE/v2/image/03', 3],
    ['1234567890123456', 1_234_567_890_123_456],
    ['BASE/v2/image/1234567890123456', 1_234_567_890_123_456],
  ])('shows %s', async (wanted, id) => {
    const { imgctl, server } = await scriptedUser(serving(images));
    const line = `images get ${wanted.replace('BASE', server.baseUrl)} --json --time raw`;
    await expectSteps(imgctl, [line, { ...images.find((image) => image.id === id) }]);
  });

  it('shows one of your own images with --mine, as images latest does', async () => {
    const { imgctl, requests, env } = await scriptedUser({
      'GET /v2/user/image/vm': ownImages('web-2.ova', 'app.ova'),
    });
    await expectSteps(
      imgctl,
      ['images get --mine web-2.ova --get name', 'web-2.ova\n'],
      ['images get --mine 30565 30565 -q', '30565\n30565\n'],
      ['images get --mine 7', '', /image 7 is not yours\nhint: .*: imgctl my-images\n/, 5],
      ['images get --mine db', '', /no image is named db\nhint: .*: imgctl my-images\n/, 5],
      ['images latest web --mine --get name', 'web-2.ova\n'],
      ['images latest db --mine', '', /no images match\n/, 5],
      ['images latest --mine', '', /hint: .*: imgctl images latest --mine -f /, 2],
      ['images latest --mine --from all.json', '', /cannot be used together/, 2],
      ['images get --mine --lock web', '', /cannot be used together/, 2],
    );
    expect(new Set(requests())).toEqual(new Set(['GET /v2/user/image/vm']));
    // Completion offers public images only.
    expect(fs.existsSync(path.join(env.IMGCTL_CONFIG_DIR, 'images'))).toBe(false);
  });

  it.each([400, 404, 500])(
    'looks in the list before it says that an image does not exist, after %i',
    async (status) => {
      const { imgctl } = await scriptedUser(listsOnly(status));
      await expectSteps(
        imgctl,
        ['images get 2 --get name', 'image-0002.ova\n'],
        ['images get 3000000000', '', /image 3000000000 is not in the catalogue/, 5],
        ['images get nosuch.ova', '', /no image is named nosuch.ova/, 5],
      );
    },
  );

  it('looks in no list while the service is down', async () => {
    const { imgctl, requests } = await scriptedUser(listsOnly(503));
    await expectSteps(imgctl, ['images get 2 --retries 1', '', /: 503\n/, 1]);
    expect(requests()).toEqual(Array(2).fill('GET /v2/image/2'));
  });

  it.each([
    'http://127.0.0.1:1/v2/image/3',
    'HTTP://127.0.0.1:1/v2/image/3',
    'https://user:SECRET@example.com/v2/image/3',
    'BASE/v2/image/three',
    'BASE/v2/image/3x',
    'BASE/v2/image/x3',
    'BASE/v2/image/-5',
    'BASE/v2/image/9007199254740993',
    'http://[',
  ])('rejects the URL %s, sends nothing and repeats no password', async (url) => {
    const { imgctl, server, requests } = await scriptedUser(serving(images));
    const result = await imgctl(['images', 'get', url.replace('BASE', server.baseUrl)]);
    expect(result).toEqual(failed(2, `not an image URL of ${server.baseUrl}: `));
    expect(result.stderr).not.toContain('SECRET');
    expect(requests()).toEqual([]);
  });

  it('exits 1 if the service sends another image', async () => {
    const other: Handler = () => ({ json: { data: images[1] } });
    const message = 'imgctl: the service sent image 2 instead of image 1\nhint: try again; a cache';
    expect(await get('1 --get path', other)).toEqual(failed(1, message));
  });

  it('exits 2 and lists the ids if several images match', async () => {
    const message =
      'imgctl: 2 images have the name twin.ova\n' +
      '  9  [images] linux/twin.ova  (2018-07-18 Wed 15:36:49 EDT)\n' +
      '  7  [images] linux/twin.ova  (2018-07-18 Wed 15:36:49 EDT)\n' +
      'hint: use an id, for example: imgctl images get 9\n';
    expect(await get('twin.ova')).toEqual({ stdout: '', stderr: message, exitCode: 2 });
    const { stderr } = await get('twin.ova --get path');
    expect(stderr).toBe(message.replace('images get', 'images get --get path'));
    expect((await get('twin.ova --json')).stderr).toContain('imgctl images get --json 9');
  });

  it('shows - for what the images lack, and suggests only an id that they have', async () => {
    const bare = [true, false].map((each) => ({ name: 'web-3.ova', public: each }) as Image);
    const texts = ['4', '5'].map((id) => ({ ...bare[0], id })) as unknown as Image[];
    const without = /^imgctl: .*2 images .*\n {2}- {2}- {2}\(-\)\n {2}- {2}- {2}\(-\)\n$/;
    const userOf = async (of: readonly Image[]) => {
      const { imgctl } = await scriptedUser(catalogueOf(of));
      const cwd = temporaryDirectory();
      return (line: string | readonly string[]) => imgctl(line, { cwd });
    };
    await expectSteps(
      await userOf(bare),
      ['images get web-3.ova', '', without, 2],
      ['images latest', '', without, 2],
      ['images lock add web', '', without, 2],
    );
    const unlockable = 'imgctl: web: the image cannot be locked without a numeric id\n';
    await expectSteps(await userOf(bare.slice(1)), ['images lock add web', '', unlockable, 1]);
    await expectSteps(
      await userOf(texts),
      ['images get web-3.ova', '', /\n {2}4 {2}- {2}\(-\)\nhint: .* imgctl images get \d\n$/, 2],
      ['images lock add web', '', /\nhint: lock the first with: imgctl .* add web -f 'id=5'\n$/, 2],
      ['images lock add web -f id=4 --get id', '4\n', /locked web/],
    );
  });

  it('wants a path in quotes, and sends nothing', async () => {
    const hint =
      "imgctl: [images] is only the data store of a path\nhint: quote the path: imgctl images get '[images] linux/web.ova'\n";
    await expectSteps(localUser().imgctl, ['images get 1 [images] linux/web.ova', '', hint, 2]);
  });

  const ALL = 'list images with: imgctl images list';
  const OWN = 'your own with: imgctl my-images';
  const MINE = 'for one of your own images: imgctl images get --mine';
  it.each([
    ['99', `image 99 is not in the catalogue\nhint: ${MINE} 99\n`],
    [
      "'[images] linux/image'",
      `image [images] linux/image is not in the catalogue\nhint: ${MINE} '`,
    ],
    [
      "'[images] linux/image [old]'",
      `image [images] linux/image [old] is not in the catalogue\nhint: ${MINE} '`,
    ],
    ['image-0003.oav', `no image is named image-0003.oav\nhint: ${ALL}, or ${OWN}\n`],
    [
      'image-00',
      `no image is named image-00; 3 names contain it\nhint: ${ALL} -f 'name~image-00'\n`,
    ],
    ['1,2', 'no image is named 1,2\nhint: use: imgctl images get 1 2\n'],
    ['1,2,300', 'no image is named 1,2,300\nhint: use: imgctl images get 1 2 300\n'],
    ['x1,2', `no image is named x1,2\nhint: ${ALL}, or ${OWN}\n`],
    ['1,2x', `no image is named 1,2x\nhint: ${ALL}, or ${OWN}\n`],
    ['0003', `no image is named 0003; 1 name contains it\nhint: ${ALL} -f 'name~0003'\n`],
  ])('exits 5 if there is no %s', async (wanted, message) => {
    expect(await get(wanted)).toEqual(failed(5, `imgctl: ${message}`));
  });

  it('counts no more names than a page has', async () => {
    const message = 'imgctl: no image is named ova; at least 100 names contain it\n';
    expect(await get('ova', serving(testImages(250)))).toEqual(failed(5, message));
  });

  it('prints blocks of keys and values, an array in the order of the arguments, or ids', async () => {
    const [one, two, three] = testImages(3).map((image) => ({ ...image }));
    const missing = /image 98 is not in the catalogue[\s\S]*no image is named none-such/;
    await expectSteps(
      (await scriptedUser(serving(images))).imgctl,
      ['images get 2 -c id,name,folder', 'id      2\nname    image-0002.ova\nfolder  linux\n'],
      ['images get 2 3 -c id,folder', 'id      2\nfolder  linux\n\nid      3\nfolder  linux\n'],
      ['images get image-0002.ova -q', '2\n'],
      ['images get 3 image-0001.ova 2 --json --time raw', [{ ...three }, { ...one }, { ...two }]],
      ['images get 1 98 none-such 2 -o csv -c id', 'id\r\n1\r\n2\r\n', missing, 5],
      ['images get 1 98 --json -c id', [{ id: 1 }], /image 98 is not in the catalogue/, 5],
      ['images get 98 98 99 --json', '[]\n', /^.*image 98 .*\n.*image 99 is not in the/, 5],
    );
  });

  it.each(["''", "1 ' '"])('rejects an empty name: %s', async (names) => {
    const message = 'imgctl: the name of an image must not be empty\nhint: provide an id';
    expect(await get(names)).toEqual(failed(2, message));
  });
});
