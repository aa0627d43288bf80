// Tests which filters and sorts of a list a service gets, and what of its responses is believed.

import { describe, expect, it } from 'vitest';
import type { Image } from '../../src/api/types.ts';
import { startListRun } from '../../src/catalogue/list-run.ts';
import { listCatalogue } from '../../src/catalogue/service-list.ts';
import { advice } from '../../src/facts.ts';
import {
  catalogueOf,
  cataloguePage,
  named,
  testImage,
  testImages,
} from '../support/catalogue-page.ts';
import { connect } from '../support/client.ts';
import { errorResponse, type Handler } from '../support/scripted-server.ts';
import { asked, down, list, type Options, queryOf, upTo } from './harness.ts';

type Like = (value: string, part: string) => boolean;

interface Habits {
  readonly images?: readonly Image[];
  readonly like?: Like;
  /** The start of a filter or sort that it refuses. */
  readonly refuses?: string;
  readonly status?: number;
  /** Sends all images if a filter finds none. */
  readonly fallsBack?: boolean;
}

const nameOf = (id: number) =>
  `${id % 40 === 0 ? 'Ubuntu' : id % 30 === 7 ? 'Mini' : 'Rocky'}-${id}-LTS.ova`;
/** Each is a day newer than the next. */
const IMAGES = upTo(120).map((id) => {
  const time = new Date(Date.UTC(2024, 0, 1 - id));
  const day = `${time.toISOString().slice(0, 10)} ${time.toUTCString().slice(0, 3)}`;
  return named(id, nameOf(id), { updated_on: `${day} 12:00:00 UTC` });
});
const swap = (name: string) =>
  name.replace(/[a-z]/gi, (letter) => (letter < 'a' ? letter.toLowerCase() : letter.toUpperCase()));

const ignoring: Like = (value, part) => value.toLowerCase().includes(part.toLowerCase());
const minding: Like = (value, part) => value.includes(part);
const turkish: Like = (value, part) =>
  value.toLocaleLowerCase('tr').includes(part.toLocaleLowerCase('tr'));

/** A service that filters names and folders, and sorts by time. */
function serving({
  images = IMAGES,
  like = ignoring,
  refuses,
  status = 400,
  fallsBack = false,
}: Habits = {}): Handler {
  return (request, index) => {
    const { filter = '', sort = '' } = Object.fromEntries(request.url.searchParams);
    if (refuses && `${filter} ${sort}`.includes(refuses)) return errorResponse(status, 'No.');
    const [, operator, value = ''] = /^name,(like|eq),(.*)$/.exec(filter) ?? [];
    const sorted = sort === 'updated_on,desc' ? images : images.toReversed();
    const found = sorted.filter(({ name }) =>
      operator === 'eq' ? name === value : !operator || like(name, value.slice(1, -1)),
    );
    const sent = fallsBack && found.length === 0 ? sorted : found;
    return catalogueOf(sent)(request, index);
  };
}

/** Requests of all images by id, and before a `like` is believed. */
const ALL = ['1', '1 id,lt,21'];
const PROOF = ['1', '1 name,like,%BUNTU-120-lts.OV%'];

describe('a sorted or filtered list', () => {
  const NEWEST = 'updated_on,desc';

  it.each<[string, Options, unknown[], string[]]>([
    [
      '-s updated_on,desc -n 5',
      { query: { sorts: [NEWEST] }, limit: 5 },
      upTo(5),
      [`1 by ${NEWEST}`],
    ],
    // Images of the next page may be as new, in another zone.
    [
      '-s updated_on,desc -n 99',
      { query: { sorts: [NEWEST] }, limit: 99 },
      upTo(99),
      [`1 by ${NEWEST}`, ...ALL],
    ],
    ['-s updated_on,desc -n 101', { query: { sorts: [NEWEST] }, limit: 101 }, upTo(101), ALL],
    ['-s updated_on,desc', { query: { sorts: [NEWEST] } }, upTo(120), ALL],
    ['-s updated_on -n 5', { query: { sorts: ['updated_on'] }, limit: 5 }, down(120, 116), ALL],
    ['-s updated_on,desc -s id -n 5', { query: { sorts: [NEWEST, 'id'] }, limit: 5 }, upTo(5), ALL],
    ['-s id -n 101', { query: { sorts: ['id'] }, limit: 101 }, upTo(101), ALL],
    ['ubuntu', { query: { words: ['ubuntu'] } }, [120, 80, 40], ['1 name,like,%ubuntu%', ...PROOF]],
    [
      'ubuntu -s updated_on,desc -n 2',
      { query: { words: ['ubuntu'], sorts: [NEWEST] }, limit: 2 },
      [40, 80],
      [`1 name,like,%ubuntu% by ${NEWEST}`, '1', '1 name,like,%BUNTU-40-lts.OV%'],
    ],
    ['120', { query: { words: ['120'] } }, [120], ['1 name,like,%120%', ...PROOF]],
    [
      '120 -s updated_on,desc -n 1',
      { query: { words: ['120'], sorts: [NEWEST] }, limit: 1 },
      [120],
      [`1 name,like,%120% by ${NEWEST}`, ...PROOF],
    ],
    ['nosuch', { query: { words: ['nosuch'] } }, [], ['1 name,like,%nosuch%', ...PROOF]],
    [
      'rocky lts',
      { query: { words: ['rocky', 'lts'] } },
      down(120).filter((id) => nameOf(id).startsWith('Rocky')),
      [
        '1 name,like,%rocky%',
        '1',
        '1 name,like,%OCKY-119-lts.OV%',
        '1 name,like,%lts%',
        '1 id,lt,21',
      ],
    ],
    ['-f name=a', { query: { filters: ['name=a'] } }, [], ['1 name,eq,a']],
    ['-f name!=a -n 2', { query: { filters: ['name!=a'] }, limit: 2 }, [120, 119], ['1']],
  ])('%s requests only what saves pages', async (_, options, ids, requests) => {
    const result = await list(serving(), { perPage: 100, ...options });
    expect(result).toMatchObject({ error: undefined, requests, ids });
  });

  it('sends the longest filter, and no other if like minds case', async () => {
    const query = { words: ['lts', 'ubuntu'], filters: ['id>50'] };
    const { ids, requests, traces } = await list(serving({ like: minding }), {
      perPage: 100,
      query,
    });
    expect(ids).toEqual([120, 80]);
    expect(requests).toEqual(['1 name,like,%ubuntu%', ...PROOF, '1 id,lt,21']);
    expect(traces).toEqual(['like is not proved for name, so its filter is not used']);
  });

  it('sends no other filter once a page has all images', async () => {
    const handler = serving({ images: IMAGES.slice(78, 82), like: minding });
    const query = { words: ['ubuntu', 'lts'] };
    const { ids, requests } = await list(handler, { perPage: 100, query });
    expect({ ids, requests }).toEqual({ ids: [80], requests: ['1 name,like,%ubuntu%', '1'] });
  });

  it.each<[string, Options, Habits]>([
    ['a filter with 400', { query: { filters: ['name=a'] } }, { refuses: 'name,eq' }],
    ['a filter with 404', { query: { filters: ['name=a'] } }, { refuses: 'name,eq', status: 404 }],
    ['a filter with 501', { query: { filters: ['name=a'] } }, { refuses: 'name,eq', status: 501 }],
    ['a sort', { query: { sorts: [NEWEST] }, limit: 5 }, { refuses: NEWEST }],
    [
      'a sort with a filter',
      { query: { sorts: [NEWEST], filters: ['folder=linux'] }, limit: 5 },
      { refuses: NEWEST },
    ],
  ])('is read by id from a service that refuses %s', async (_, options, habits) => {
    const { ids, error, requests, traces } = await list(serving(habits), {
      perPage: 100,
      ...options,
    });
    expect({ error, count: ids.length }).toEqual({ error: undefined, count: options.limit ?? 0 });
    expect(requests.slice(-2)).toEqual(ALL);
    expect(traces.at(-1)).toMatch(`the service refused ${habits.refuses}`);
  });

  it.each([
    ['capitals', 'UBUNTU-120-LTS.OVA', 'buntu-120-lts.ov'],
    ['small letters', 'ubuntu-120-lts.ova', 'BUNTU-120-LTS.OV'],
  ])('is one page if all names are in %s', async (_, name, probe) => {
    const others = IMAGES.filter(({ id }) => id !== 120 && id % 40 !== 0);
    const inCase = (text: string) =>
      name === name.toUpperCase() ? text.toUpperCase() : text.toLowerCase();
    const images = [...others.map((each) => named(each.id, inCase(each.name))), named(120, name)];
    const query = { words: ['ubuntu'] };
    const { ids, requests } = await list(serving({ images }), { perPage: 100, query });
    const proof = `1 name,like,%${probe}%`;
    expect([ids, requests]).toEqual([[120], ['1 name,like,%ubuntu%', '1', proof]]);
  });

  it('sends other words if a firewall refuses one', async () => {
    const query = { words: ['select', 'mini'] };
    const options = { perPage: 100, query };
    const { ids, requests } = await list(serving({ refuses: 'select' }), options);
    expect(ids).toEqual([]);
    const proof = ['1', '1 name,like,%INI-97-lts.OV%'];
    const sent = ['1 name,like,%select%', '1 name,like,%mini%', ...proof];
    expect(requests.slice(0, 4)).toEqual(sent);
  });

  const zones = ['23:00:00 UTC', '22:30:00 UTC', '22:00:00 UTC', '21:30:00 EDT'];
  const day = (number: number) => `2018-07-${number} Wed 12:00:00 UTC`;
  it.each([
    ['are compared as texts', zones.map((time) => `2018-07-18 Wed ${time}`)],
    ['are missing, which come first', [null, day(18), day(11), day(25)]],
    [
      'are compared as texts, of which the last of a page is unreadable',
      ['23:00:00 UTC', '22:30:00 UTC', '22:00:00 unreadable', '21:30:00 EDT'].map(
        (time) => `2018-07-18 Wed ${time}`,
      ),
    ],
  ])('by time is not left to the service if times %s', async (_, times) => {
    const images = times.map((updated_on, at) => ({ ...testImage(4 - at), updated_on }) as Image);
    const { ids } = await list(serving({ images }), {
      perPage: 3,
      query: { sorts: [NEWEST] },
      limit: 1,
    });
    expect(ids).toEqual([1]);
  });

  it('by time has no image twice if the service repeats one', async () => {
    const repeating: Handler = (request, index) => {
      const isByTime = request.url.search.includes('updated_on');
      const images = isByTime ? [...IMAGES.slice(0, 1), ...IMAGES] : IMAGES;
      return serving({ images })(request, index);
    };
    const { ids } = await list(repeating, { perPage: 100, query: { sorts: [NEWEST] }, limit: 3 });
    expect(ids).toEqual([1, 2, 3]);
  });

  it.each<[string, Habits, boolean]>([
    ['ignores case', {}, true],
    ['minds case', { like: minding }, false],
    ['lowers the pattern', { like: (name, part) => name.includes(part.toLowerCase()) }, false],
    ['raises the pattern', { like: (name, part) => name.includes(part.toUpperCase()) }, false],
    ['knows only prefixes', { like: (name, part) => name.startsWith(part) }, false],
    ['ignores filters', { like: () => true }, false],
    ['finds nothing', { like: () => false }, false],
    ['is Turkish', { like: turkish }, false],
    ['minds case and sends all if it finds none', { like: minding, fallsBack: true }, false],
  ])(
    'is complete if the like of the service %s, and one page if that is proved',
    async (_, habits, isProved) => {
      const { ids, error, requests } = await list(serving(habits), {
        perPage: 100,
        query: { words: ['MINI'] },
      });
      expect({ ids, error }).toEqual({ ids: [97, 67, 37, 7], error: undefined });
      expect(requests.some((request) => /id,lt/.test(request))).toBe(!isProved);
    },
  );

  const inBothCases = IMAGES.flatMap((image) => [image, named(image.id + 200, swap(image.name))]);
  const inOneCase = IMAGES.map(({ id, name }) =>
    named(id, id % 3 === 0 ? name.toUpperCase() : name.toLowerCase()),
  );
  const lowering: Like = (name, part) => name.includes(part.toLowerCase());
  it.each<[string, Habits, number[]]>([
    [
      'minds case, and each name is there in both cases',
      { images: inBothCases, like: minding },
      [320, 280, 240, 120, 80, 40],
    ],
    [
      'minds case, finds one name, and sends all if it finds none',
      { images: [...IMAGES, named(200, 'uBuntu.ova')], like: minding, fallsBack: true },
      [200, 120, 80, 40],
    ],
    [
      'lowers the pattern, and each name is there in lower case too',
      {
        images: IMAGES.flatMap(({ id, name }) => [
          named(2 * id, name),
          named(2 * id + 1, name.toLowerCase()),
        ]),
        like: lowering,
      },
      [241, 240, 161, 160, 81, 80],
    ],
    [
      'lowers the pattern, and each name is in one case',
      { images: inOneCase, like: lowering },
      [120, 80, 40],
    ],
    [
      'minds case, and one page has all images',
      { images: inBothCases.slice(78, 82), like: minding },
      [240, 40],
    ],
  ])('is complete if the like of the service %s', async (_, habits, found) => {
    const query = { words: ['uBuntu'] };
    const { ids } = await list(serving(habits), { perPage: 100, query });
    expect(ids).toEqual(found);
  });

  it('asks once in a run whether like ignores case, and how ids are sorted', async () => {
    const { client, server } = await connect(serving({ images: IMAGES.slice(0, 99) }));
    const run = startListRun(client, { perPage: 2 });
    for (const word of ['rocky', 'lts']) {
      await listCatalogue(run, queryOf({ words: [word] }), { limit: 1 }).next();
    }
    expect(server.requests.map(asked)).toEqual([
      ...['1 name,like,%rocky%', '1', '1 name,like,%OCKY-99-lts.OV%'],
      ...['1 id,ge,100 by undefined top', '1 name,like,%lts%'],
    ]);
  });

  it('does not believe the page of another filter', async () => {
    const other = (url: URL, from: string, to: string) => {
      if (url.searchParams.get('filter') === from) url.searchParams.set('filter', to);
      return url;
    };
    const mixing: Handler = (request, index) =>
      serving()(
        {
          ...request,
          url: other(new URL(request.url), 'name,like,%ubuntu%', 'name,like,%ubuntu-80%'),
        },
        index,
      );
    expect((await list(mixing, { perPage: 100, query: { words: ['ubuntu'] } })).ids).toEqual([
      120, 80, 40,
    ]);
  });

  it.each([1, 9])(
    'asks again for a list without a filter that has one, up to %i times',
    async (times) => {
      let left = times;
      const mixing: Handler = (request, index) => {
        const url = new URL(request.url);
        if (!url.searchParams.has('filter') && left-- > 0)
          url.searchParams.set('filter', 'id,lt,3');
        return catalogueOf(testImages(5))({ ...request, url }, index);
      };
      const { ids, error } = await list(mixing);
      if (times === 1) return expect(ids).toEqual(down(5));
      expect(error).toMatchObject({
        code: 'bad-answer',
        message: 'the service sent the page of another request, with the filter id,lt,3',
        facts: advice('try again; a cache or proxy may be mixing up responses'),
      });
    },
  );

  it.each([
    ['encoded', (text: string) => encodeURIComponent(text)],
    ['in other case with blanks', (text: string) => text.toUpperCase().replaceAll(',', ', ')],
    ['as it was sent', (text: string) => text],
  ])('accepts an echo %s, of a sort too', async (_, echo) => {
    const handler: Handler = ({ url }) => {
      const isNamed = url.searchParams.get('filter')?.startsWith('name');
      const { data, meta } = cataloguePage(url, testImages(isNamed ? 1 : 5));
      const sent = Object.entries(meta).filter(([name]) => name === 'filter' || name === 'sort');
      const echoed = sent.map(([name, text]) => [name, echo(String(text))]);
      return { json: { data, meta: { ...meta, ...Object.fromEntries(echoed) } } };
    };
    const named = await list(handler, { query: { filters: ['name=image-0001.ova'] } });
    expect(named.requests).toEqual(['1 name,eq,image-0001.ova']);
    const lowest = await list(handler, { limit: 2, query: { sorts: ['id'] } });
    expect(lowest.requests).toEqual(['1 by id,asc', '1']);
    expect((await list(handler)).requests).toEqual(['1', '1 id,lt,4', '1 id,lt,2']);
  });
});
