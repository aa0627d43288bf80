// Integers that a double cannot hold and ids of sync requests, from the response to the output.

import { describe, expect, it } from 'vitest';
import { expectSteps } from '../support/steps.ts';
import { scriptedUser } from '../support/users.ts';
import { SUBMIT } from './sync-harness.ts';

const NUMBERS = '{"big":9007199254740993,"small":-9007199254740993,"list":[1.5]}';
const IMAGE = `{"id":1,"name":9007199254740993,"path":-12345678901234567890,"x":${NUMBERS}}`;
const META = '"meta":{"count":1,"pages":{"page":1,"pages":1,"total":1,"next_url":null}}';

describe('integers that a double cannot hold', () => {
  it.each<[string, string | RegExp]>([
    ['images list -o ndjson', `${IMAGE}\n`],
    ['images get 1 -o ndjson', `${IMAGE}\n`],
    ['my-images -o ndjson', `${IMAGE}\n`],
    ['images list --json', /\n {4}"path": -12345678901234567890,\n/],
    ['images get 1 -o yaml', /\n"path": -12345678901234567890\n/],
    ['images list -o csv --columns id,path', 'id,path\r\n1,-12345678901234567890\r\n'],
    ['images get 1 -o yaml', /\n {2}"small": -9007199254740993\n/],
    ['my-images -f name,eq,9007199254740993 --no-header', /^1 +9007199254740993 /],
  ])('are printed as they were sent by %s', async (line, expected) => {
    const { imgctl } = await scriptedUser({
      'GET /v2/image': { body: `{"data":[${IMAGE}],${META}}` },
      'GET /v2/image/1': { body: IMAGE },
      'GET /v2/user/image/vm': { body: `{"data":[${IMAGE}],"meta":{"count":1}}` },
    });
    await expectSteps(imgctl, [line, expected]);
  });
});

describe('the id of a sync request', () => {
  it.each(['"007"', '41', '9007199254740993', '"9007199254740993"'])(
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
      for (const command of [`sync-status ${text}`, 'sync --wait']) {
        const status = await imgctl(`${command} -o ndjson`);
        expect([status.stdout.startsWith(`{"id":${id},`), status.exitCode]).toEqual([true, 0]);
      }
      expect(requests().filter((request) => request === path)).toHaveLength(2);
      // Each status was stored in the history.
      const { stdout } = await imgctl('sync-status --list -o ndjson');
      expect(stdout.match(/"state":"\w+"/g)).toEqual(['"state":"succeeded"']);
    },
  );
});

it('half of a character becomes U+FFFD in a URL, as URL itself does it', async () => {
  const { imgctl, server } = await scriptedUser({
    'GET /v2/image': { body: `{"data":[{"id":"7\\ud800","name":"a"}],${META}}` },
  });
  const urls = 'images list --urls -f folder,eq,null';
  const url = `${server.baseUrl}/v2/image/7%EF%BF%BD\n`;
  await expectSteps(imgctl, [urls, url], [`${urls} -f name,ne,\ud800`, url, /confirm/]);
});
