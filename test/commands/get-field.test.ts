// --get: the bare values of one field.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { catalogueOf, testImage, testImages } from '../support/catalogue-page.ts';
import { failed } from '../support/io.ts';
import { scriptedUser } from '../support/users.ts';

const list = async (images: readonly Image[], line: string, io = {}) =>
  (await scriptedUser(catalogueOf(images))).imgctl(`images list ${line}`, io);

describe('--get', () => {
  it('prints one line per image, with timestamps as the service sent them', async () => {
    const { stdout } = await list(testImages(2), '--get updated_on');
    expect(stdout).toBe('2018-07-19 Thu 08:00:00 EDT\n'.repeat(2));
    expect((await list(testImages(1), '--get updated_on --time iso')).stdout).toBe(
      '2018-07-19T12:00:00Z\n',
    );
  });

  it('ignores case in the name of the field, and the format of the settings', async () => {
    const { stdout } = await list(testImages(1), '--get PUBLIC', {
      env: { IMGCTL_OUTPUT: 'json' },
    });
    expect(stdout).toBe('true\n');
  });

  it('prints nothing and exits 5 if one image has no value', async () => {
    const images = [testImage(1), { ...testImage(2), folder: null }];
    expect(await list(images, '--get folder')).toEqual(
      failed(5, 'imgctl: 1 of 2 results have no folder\nhint: omit --get'),
    );
    expect(await list(images.slice(1), '--get folder')).toEqual(
      failed(5, 'there is no value of folder'),
    );
  });

  it('prints an empty text as an empty line, and nothing for an empty list', async () => {
    expect((await list([{ ...testImage(1), folder: '' }], '--get folder')).stdout).toBe('\n');
    expect(await list([], '--get id')).toMatchObject({ stdout: '', exitCode: 0 });
  });

  it('prints a value on one line, escaped only on a terminal', async () => {
    const images = [{ ...testImage(1), name: 'a\n\u001b[31mb\u200f' }];
    expect((await list(images, '--get name')).stdout).toBe('a \u001b[31mb\u200f\n');
    expect((await list(images, '--get name', { columns: 80 })).stdout).toBe(
      'a \\u001b[31mb\\u200f\n',
    );
  });

  it.each([
    ['--get nam', "unknown field 'nam' in --get 'nam'\nhint: did you mean name?"],
    ['--get __proto__', "unknown field '__proto__'"],
    ['--get id -o json', '--output cannot be used together'],
    ['--get id -q', '--get and --quiet cannot be used together'],
    ['--get id --columns id', "option '--get <field>' cannot be used with"],
    ['--get id --urls', "option '--get <field>' cannot be used with"],
    ['--get id --meta', "option '--get <field>' cannot be used with"],
  ])('rejects %s before a request is sent', async (line, message) => {
    const { imgctl, requests } = await scriptedUser(catalogueOf([]));
    expect(await imgctl(`images list ${line}`)).toEqual(failed(2, message));
    expect(requests()).toEqual([]);
  });

  describe('of other commands', () => {
    const status = (data: object) => () => ({ json: { data } });

    it.each([
      ['sync-status 4 --get state', { id: 4, status: 'PROCESSED' }, 'succeeded\n', 0],
      ['sync-status 4 --get added', { id: 4, status: 'PROCESSED', added: ['a', 'b'] }, 'a, b\n', 0],
      ['sync-status 4 --get added', { id: 4, status: 'PROCESSED' }, '', 5],
      ['sync-status 4 --get added', { id: 4, status: 'ERROR' }, '', 1],
      ['sync-status 4 --get status', { id: 4, status: 'ERROR' }, 'ERROR\n', 1],
    ])('%s of %j prints %j and exits %i', async (line, data, stdout, exitCode) => {
      const { imgctl } = await scriptedUser(status(data));
      expect(await imgctl(line)).toMatchObject({ stdout, exitCode });
    });

    it('prints the id of a submitted sync, and lists ids', async () => {
      const { imgctl } = await scriptedUser(() => ({ json: { request: { id: 41 } } }));
      expect((await imgctl('sync --get id')).stdout).toBe('41\n');
      expect((await imgctl('sync-status --list --get id')).stdout).toBe('41\n');
    });

    it('submits nothing if the field is unknown', async () => {
      const { imgctl, requests } = await scriptedUser(() => ({ json: {} }));
      for (const [line, valid] of [
        ['sync --get added', 'valid: id, status, url'],
        ['sync --wait --get url', 'valid: id, status, state'],
        ['sync-status --list --get added', 'valid: id, status, state, submitted_on'],
        ['whoami --check --get password', 'valid: profile, base_url'],
        ['config list --get default', 'valid: key, value, origin'],
      ] as const) {
        expect(await imgctl(line)).toEqual(failed(2, valid));
      }
      expect(requests()).toEqual([]);
    });

    it('prints a field of whoami and of config list', async () => {
      const { imgctl } = await scriptedUser(() => ({ json: {} }));
      expect((await imgctl('whoami --get token')).stdout).toBe('from IMGCTL_TOKEN\n');
      expect(await imgctl('whoami --get username')).toEqual(failed(5, 'no value of username'));
      const loggedOut = { env: { IMGCTL_TOKEN: '' } };
      expect(await imgctl('whoami --get expires_on', loggedOut)).toEqual(
        failed(4, 'not logged in'),
      );
      expect((await imgctl('config list --get key')).stdout).toMatch(/^base-url\nusername\n/);
    });
  });
});
