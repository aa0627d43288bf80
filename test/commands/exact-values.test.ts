// Integers that a double cannot hold and ids of sync requests, from the response to the output.

import { describe, expect, it } from 'vitest';
import { scriptedUser } from '../support/users.ts';
import { SUBMIT } from './sync-harness.ts';

const NUMBERS = '{"big":9007199254740993,"small":-9007199254740993,"list":[1.5]}';
const IMAGE = `{"id":1,"name":"a.ova","size":12345678901234567890,"x":${NUMBERS}}`;
const META = '"meta":{"count":1,"pages":{"page":1,"pages":1,"total":1,"next_url":null}}';

const service = () =>
  scriptedUser({
    'GET /v2/image': { body: `{"data":[${IMAGE}],${META}}` },
    'GET /v2/image/1': { body: IMAGE },
    'GET /v2/user/image/vm': { body: `{"data":[${IMAGE}],"meta":{"count":1}}` },
  });

const indented = (text: string) => text.replace(/\s/g, '');

describe('integers that a double cannot hold', () => {
  it.each([
    ['images list -o ndjson', IMAGE],
    ['images get 1 --json', IMAGE],
    ['images list --json', `[${IMAGE}]`],
    ['my-images --json', `[${IMAGE}]`],
    ['my-images --json --meta', `{"data":[${IMAGE}],"meta":{"count":1}}`],
  ])('are printed as they were sent by %s', async (command, expected) => {
    const { imgctl } = await service();
    const { stdout, stderr, exitCode } = await imgctl(command);
    expect([indented(stdout), stderr, exitCode]).toEqual([expected, '', 0]);
  });

  it('are printed as numbers of YAML', async () => {
    const { imgctl } = await service();
    const { stdout } = await imgctl('images get 1 -o yaml');
    expect(stdout).toContain('\n"size": 12345678901234567890\n');
    expect(stdout).toContain('\n  "big": 9007199254740993\n  "small": -9007199254740993\n');
  });

  it('are shown in tables, and match filters as text', async () => {
    const body = IMAGE.replace('"a.ova"', '9007199254740993');
    const { imgctl } = await scriptedUser({
      'GET /v2/user/image/vm': { body: `{"data":[${body}],"meta":{"count":1}}` },
    });
    const { stdout } = await imgctl('my-images -f name,eq,9007199254740993 --no-header');
    expect(stdout).toMatch(/^1 +9007199254740993 /);
  });
});

describe('the id of a sync request', () => {
  it.each(['"007"', '"41"', '41', '9007199254740993', '"9007199254740993"'])(
    'keeps its type and text: %s',
    async (id) => {
      const text = id.replaceAll('"', '');
      const path = `GET /v2/request/image_sync/${text}`;
      const { imgctl, requests } = await scriptedUser({
        [SUBMIT]: { body: `{"request":{"id":${id}}}` },
        [path]: { body: `{"data":{"id":${id},"status":"PROCESSED"}}` },
      });
      const submitted = await imgctl('sync -o ndjson');
      expect(submitted.stdout).toContain(`{"id":${id},`);
      expect(submitted.stderr).toContain(`sync request ${text} submitted`);
      for (const command of ['sync-status', `sync-status ${text}`, 'sync --wait']) {
        const { stdout, exitCode } = await imgctl(`${command} -o ndjson`);
        expect([stdout.startsWith(`{"id":${id},`), exitCode]).toEqual([true, 0]);
      }
      expect(requests().filter((request) => request === path)).toHaveLength(3);
      // Each status was stored in the history.
      const { stdout } = await imgctl('sync-status --list -o ndjson');
      expect(stdout.match(/"state":"\w+"/g)).toEqual(['"state":"succeeded"']);
    },
  );
});

describe('half of a character', () => {
  it('becomes U+FFFD in a URL, as URL itself does it', async () => {
    const { imgctl, server } = await scriptedUser({
      'GET /v2/image': { body: `{"data":[{"id":"7\\ud800","name":"a"}],${META}}` },
    });
    const urls = 'images list --urls -f folder,eq,null';
    for (const line of [urls, `${urls} -f name,ne,\ud800`]) {
      const stdout = `${server.baseUrl}/v2/image/7%EF%BF%BD\n`;
      expect(await imgctl(line)).toMatchObject({ stdout, exitCode: 0 });
    }
  });
});
