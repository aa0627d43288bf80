// images list in every format, with hostile names.

import { describe, expect, it } from 'vitest';
import { HOSTILE, HOSTILE_ESCAPED, RAW_HARM } from '../output/hostile.ts';
import { catalogueOf, testImage } from '../support/catalogue-page.ts';
import { scriptedUser } from '../support/users.ts';

const FORMATS = ['table', 'json', 'ndjson', 'yaml', 'csv', 'tsv'];
const hostile = { ...testImage(1), name: HOSTILE, folder: null, [HOSTILE]: [HOSTILE] };

/** Line ends are the command's own; csv has CRLF. */
const withoutLineEnds = (text: string) => text.replace(/\r?\n/g, '');

describe('images list', () => {
  it.each(FORMATS)('shows no hostile name raw on a terminal: %s', async (format) => {
    const { imgctl } = await scriptedUser(catalogueOf([hostile, testImage(2)]));
    for (const options of ['', '--columns all', '--columns name', '--meta']) {
      const line = `images list -o ${format} --color never ${options}`;
      const { stdout, exitCode } = await imgctl(line, { columns: 400 });
      const text = format === 'tsv' ? stdout.replaceAll('\t', ' ') : stdout;
      expect(withoutLineEnds(text)).not.toMatch(RAW_HARM);
      expect(stdout).toContain('image-0002.ova');
      expect(exitCode).toBe(0);
    }
  });

  it.each([
    ['csv', `1,"'${HOSTILE.replaceAll('"', '""')}"\r\n`],
    ['tsv', `1\t${HOSTILE.replace(/[\t\r\n]/g, ' ')}\n`],
    ['table', `1  ${HOSTILE_ESCAPED}\n`],
  ])('prints a hostile name to a pipe: %s', async (format, expected) => {
    const { imgctl } = await scriptedUser(catalogueOf([hostile]));
    const { stdout } = await imgctl(`images list -o ${format} --columns id,name --no-header`);
    expect(stdout.trimStart()).toBe(expected);
  });

  it('escapes hostile text in URLs, errors and notes', async () => {
    const { imgctl } = await scriptedUser(({ url }) => ({
      json: {
        data: url.searchParams.has('expand') ? [hostile, { ...hostile, id: 2 }] : [HOSTILE],
        meta: { pages: { total: 1, pages: 1, per_page: 100, next_url: null } },
      },
    }));
    expect((await imgctl('images list --urls')).stdout).toBe(`${HOSTILE_ESCAPED}\n`);
    for (const word of ['get', 'list']) {
      const { stderr } = await imgctl(['images', word, HOSTILE, '--base-url', '://']);
      expect(withoutLineEnds(stderr)).not.toMatch(RAW_HARM);
    }
    const { stderr } = await imgctl('images get none.ova');
    expect(stderr).toContain('image none.ova does not exist');
    expect(withoutLineEnds(stderr)).not.toMatch(RAW_HARM);
  });
});
