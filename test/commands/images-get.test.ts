// images get: by id and by name, one and several arguments.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { catalogueOf, testImage, testImages } from '../support/catalogue-page.ts';
import { failed, runCli } from '../support/io.ts';
import type { Handler } from '../support/scripted-server.ts';
import { scriptedUser } from '../support/users.ts';

/** Serves images by id and lists; applies only the filter name,eq. */
function serving(images: readonly Image[]): Handler {
  return (request, index) => {
    const { pathname, searchParams } = request.url;
    const id = /^\/v2\/image\/(\d+)$/.exec(pathname)?.[1];
    if (id !== undefined) {
      const data = images.find((image) => image.id === Number(id));
      return data ? { json: { data, meta: {} } } : { status: 404, json: { message: 'None.' } };
    }
    const [, name] = /^name,eq,(.*)$/.exec(searchParams.get('filter') ?? '') ?? [];
    const found = images.filter((image) => name === undefined || image.name === name);
    return catalogueOf(found)(request, index);
  };
}

const named = (id: number, name: string): Image => ({ ...testImage(id), name });
const twins = [named(7, 'twin.ova'), named(9, 'twin.ova')];
const digits = named(12, '2024');
const images = [...testImages(3), ...twins, digits];
const get = async (line: string, handler = serving(images)) =>
  (await scriptedUser(handler)).imgctl(`images get ${line}`);
const json = async (line: string, handler?: Handler) => {
  const { stdout, exitCode } = await get(`${line} -o json`, handler);
  return { data: JSON.parse(stdout), exitCode };
};

describe('images get', () => {
  it.each([
    ['2', testImage(2)],
    ['image-0003.ova', testImage(3)],
    ['2024', digits],
    ['twin.ova', twins],
  ])('shows %s', async (line, data) => {
    expect(await json(line)).toEqual({ data, exitCode: 0 });
  });

  it('shows all images that share a name, with a note', async () => {
    expect(await get('twin.ova --columns id --no-header')).toEqual({
      stdout: '7\n9\n',
      stderr: 'imgctl: 2 images have the name twin.ova\n',
      exitCode: 0,
    });
  });

  it.each([
    ['image-0003.oav', 'image image-0003.oav does not exist', 'did you mean image-0003.ova'],
    ['imgae-0003.ova', 'image imgae-0003.ova does not exist', 'did you mean image-0003.ova'],
    ['99', 'image 99 does not exist', 'list all images with: imgctl images list'],
    ['007', 'image 007 does not exist', 'list all images with: imgctl images list'],
  ])('exits 5 and suggests the nearest names for %s', async (line, message, hint) => {
    const { stdout, stderr, exitCode } = await get(`${line} -o json`);
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 5 });
    const { error } = JSON.parse(stderr);
    expect(error.message).toBe(message);
    expect(error.hint).toContain(hint);
  });

  it('prints a table of keys and values, and only the id with -q', async () => {
    const { stdout } = await get('2 --columns id,name,folder');
    expect(stdout).toBe('id      2\nname    image-0002.ova\nfolder  linux\n');
    expect((await get('image-0002.ova -q')).stdout).toBe('2\n');
  });

  it('suggests no name if images have none', async () => {
    const nameless = { ...testImage(1), name: null };
    const { stderr } = await get('nul', catalogueOf([nameless as unknown as Image]));
    expect(stderr).toContain('list all images with: imgctl images list');
  });

  it.each([[['']], [['1', ' ']]])('rejects an empty name: %j', async (names) => {
    const message = 'imgctl: the name of an image must not be empty\nhint: provide an id';
    expect(await runCli(['images', 'get', ...names])).toEqual(failed(2, message));
  });

  it('prints an array in the order of several arguments', async () => {
    expect(await json('3 image-0001.ova 2')).toEqual({
      data: [testImage(3), testImage(1), testImage(2)],
      exitCode: 0,
    });
  });

  it('prints the images it finds, names the others and exits 5', async () => {
    const { stdout, stderr, exitCode } = await get('1 99 none-such 2 -o csv --columns id');
    expect({ stdout, exitCode }).toEqual({ stdout: 'id\r\n1\r\n2\r\n', exitCode: 5 });
    expect(stderr).toContain('image 99 does not exist');
    expect(stderr).toContain('image none-such does not exist');
  });

  it('prints an empty array if no argument matches', async () => {
    expect(await json('98 99')).toEqual({ data: [], exitCode: 5 });
  });

  it('compares names locally if the service ignores the filter', async () => {
    expect(await json('image-0003.ova', catalogueOf(images))).toMatchObject({ data: { id: 3 } });
  });

  it('fails if the service refuses the token', async () => {
    const refused = () => ({ status: 401, json: { message: 'Invalid token.' } });
    expect(await get('1 2', refused)).toMatchObject({ stdout: '', exitCode: 4 });
  });
});
