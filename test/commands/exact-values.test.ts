// Integers that a double cannot hold and ids of sync requests, from the response to the output.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { expectSteps } from '../support/steps.ts';
import { localUser, scriptedUser } from '../support/users.ts';
import { SUBMIT } from './packages/sync-harness.ts';

const IMAGE =
  '{"id":1,"name":9007199254740993,"path":12345678901234567890,"x":[-9007199254740993]}';
const AS_TEXT = IMAGE.replaceAll(/(-?\d{16,})/g, '"$1"');
const META = '"meta":{"count":1,"pages":{"page":1,"pages":1,"total":1,"next_url":null}}';

describe('integers that a double cannot hold', () => {
  const userOf = (image: string) =>
    scriptedUser({
      'GET /v2/image': { body: `{"data":[${image}],${META}}` },
      'GET /v2/image/1': { body: image },
      'GET /v2/user/image/vm': { body: `{"data":[${image}],"meta":{"count":1}}` },
    });

  it.each<[string, string | RegExp]>([
    ['images list -o ndjson', `${AS_TEXT}\n`],
    ['images get 1 -o ndjson', `${AS_TEXT}\n`],
    ['my-images -o ndjson', `${AS_TEXT}\n`],
    ['images get 1 -o yaml', /\npath: "12345678901234567890"\n/],
    ['images list -o csv --columns id,path', 'id,path\r\n1,12345678901234567890\r\n'],
    ['my-images -f name,eq,9007199254740993 --no-header', /^1 +9007199254740993 /],
  ])('are printed as texts of the same digits by %s', async (line, expected) => {
    await expectSteps((await userOf(IMAGE)).imgctl, [line, expected]);
  });

  it.each(['9007199254740993', '-9007199254740993', '"9007199254740993"', '1e300'])(
    'are an error as the id of an image: %s',
    async (id) => {
      const { imgctl } = await userOf(IMAGE.replace('1', id));
      const error = /the image id \S+ is not between -2\^53 and 2\^53\n/;
      await expectSteps(
        imgctl,
        ['images list', '', error, 1],
        ['images get 1', '', error, 1],
        ['my-images', '', error, 1],
      );
    },
  );

  it('are an error as the id of an image in a snapshot', async () => {
    const { imgctl } = localUser();
    const file = path.join(temporaryDirectory(), 'catalogue.json');
    const head =
      '"version":1,"taken_at":"2026-01-01T00:00:00Z","base_url":"https://h","username":null';
    writeFileSync(file, `{${head},"images":[\n${IMAGE.replace('1', '9007199254740993')}\n]}\n`);
    const error =
      /catalogue\.json is damaged: the image id 9007199254740993 is not between -2\^53 and 2\^53/;
    await expectSteps(imgctl, [`images list -f id<6 --from ${file}`, '', error, 2]);
  });
});

describe('the id of a sync request', () => {
  const IDS = ['"007"', '41', '"41"', '"9007199254740993"'];
  it.each(IDS)('keeps its type and text: %s', async (id) => {
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
      const stdout = expect.stringMatching(`^\\{"id":${id},`);
      expect(await imgctl(`${command} -o ndjson`)).toMatchObject({ stdout, exitCode: 0 });
    }
    expect(requests().filter((request) => request === path)).toHaveLength(2);
    // Each status was stored in the history.
    const { stdout } = await imgctl('sync-status --list -o ndjson');
    expect(stdout.match(/"state":"\w+"/g)).toEqual(['"state":"succeeded"']);
  });
});

it('half of a character becomes U+FFFD in a URL, as URL itself does it', async () => {
  const { imgctl, server } = await scriptedUser({
    'GET /v2/image': { body: `{"data":[{"id":"7\\ud800","name":"a"}],${META}}` },
  });
  const urls = 'images list --urls';
  const url = `${server.baseUrl}/v2/image/7%EF%BF%BD\n`;
  await expectSteps(imgctl, [urls, url]);
});
