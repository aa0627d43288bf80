// What images list asks of an ordinary service, on PostgreSQL: sorts, filters in the case typed, proofs, refusals.

import fs from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { idsOf } from '../../support/catalogue-page.ts';
import { temporaryDirectory } from '../../support/io.ts';
import { database, type Habits, sqlService } from '../../support/sql-service.ts';
import { scriptedUser } from '../../support/users.ts';

/** A user of a service with 250 images, and what a line asks of it: the parameters of each request. */
async function userOf(habits: Habits = {}) {
  const db = await database();
  const user = await scriptedUser(sqlService(db, habits));
  const ids = async (sql: string) => {
    const { from = 'images_250' } = habits;
    const { rows } = await db.query<{ id: number }>(`select id from ${from} ${sql}`);
    return rows.map(({ id }) => id);
  };
  const asked = async (line: string) => {
    const before = user.server.requests.length;
    const { stdout, stderr, exitCode } = await user.imgctl(`${line} -o json`);
    const requests = user.server.requests.slice(before).map(({ url }) => {
      const { filter, sort, page, per_page } = Object.fromEntries(url.searchParams);
      const order = sort === 'id,desc' ? [] : [`by ${sort}`];
      return [page, filter, ...order, ...(per_page === '1' ? ['top'] : [])]
        .filter(Boolean)
        .join(' ');
    });
    return { found: exitCode === 0 ? idsOf(stdout) : [], stderr, exitCode, requests };
  };
  return { ...user, ids, asked };
}

/** It starts for some seconds. */
beforeAll(() => database(), 120_000);

/** All 250 images by id, whose gaps are of seven. */
const ALL = ['1', '1 id,lt,1053', '1 id,lt,353'];

describe('a sorted list', () => {
  it.each([
    ['-s updated_on,desc -n 5', ['1 by updated_on,desc']],
    // The next ones may be as new.
    ['-s updated_on,desc -n 100', ['1 by updated_on,desc', ...ALL]],
    ['-s updated_on,desc -n 101', ALL],
    ['-s updated_on,desc', ALL],
    ['-s updated_on -n 5', ALL],
    ['-s name -n 5', ALL],
    ['-s id,desc -n 5', ['1']],
    ['-s id -n 5', ['1 by id,asc']],
    ['-s id -n 101', ['1 by id,asc', ...ALL]],
    ['-n 5', ['1']],
  ])('asks for %s only what saves pages', async (options, requests) => {
    const { asked } = await userOf();
    expect((await asked(`images list ${options}`)).requests).toEqual(requests);
  });
});

const MINDS = { mindsCase: ['name'] };
const PROOF = /^1 name,like,%[^%]+% top$/;
const [, ...REST] = ALL;

describe('a filtered list', () => {
  it.each<[string, Habits, string, (string | RegExp)[]]>([
    ["-f 'name~UBUNTU'", {}, "name ilike '%ubuntu%'", ['1 name,like,%UBUNTU%', '1', PROOF]],
    [
      'ubuntu -s created_on,desc -n 2',
      {},
      "name ilike '%ubuntu%' order by created_on desc, id desc limit 2",
      ['1 name,like,%ubuntu% by created_on,desc', '1', PROOF],
    ],
    [
      'ubuntu 20 -f id>1000',
      MINDS,
      "name ilike '%ubuntu%' and name like '%-20.%' and id > 1000",
      ['1 name,like,%ubuntu%', '1', PROOF, '1 id,gt,1000', ...REST],
    ],
    [
      'ubuntu -f path~store',
      { mindsCase: ['path'] },
      "name ilike '%ubuntu%'",
      ['1 name,like,%ubuntu%', '1', PROOF],
    ],
    ['22 -f name,like,ubuntu%', {}, "name ilike 'ubuntu-22%'", ['1 name,like,%22%', PROOF]],
    ['-f name=a,b-3.ova', {}, "name = 'a,b-3.ova'", ALL],
    ['-f name~a,b', {}, "name like 'a,b%'", ALL],
    ["-f 'name~%'", {}, "name like '%\\%%'", ALL],
    ["-f 'name!~%'", {}, "name not like '%\\%%'", ALL],
    ['-f name,in,null,x', {}, "name = 'null'", ['1 name,in,null,x']],
    [
      'mini',
      { collation: 'tr' },
      "name ilike '%mini%'",
      ['1 name,like,%mini%', '1', PROOF, ...REST],
    ],
  ])('asks for %s in the case typed, on %j', async (line, habits, where, expected) => {
    const { asked, ids } = await userOf(habits);
    const { found, stderr, requests } = await asked(`images list ${line}`);
    const order = where.includes('order') ? '' : 'order by id desc';
    expect({ found, stderr }).toEqual({ found: await ids(`where ${where} ${order}`), stderr: '' });
    expect(requests).toEqual(
      expected.map((one) => (typeof one === 'string' ? one : expect.stringMatching(one))),
    );
  });
});

describe('a service that refuses', () => {
  it.each<[string, Habits, string, string[]]>([
    ['a field', { unfiltered: ['label'] }, '-f label=x', ['1 label,eq,x', ...ALL]],
    [
      'a sort',
      { unsorted: ['updated_on'] },
      '-s updated_on,desc -n 1',
      ['1 by updated_on,desc', ...ALL],
    ],
    ['an id with 422', { refusal: 422 }, '-f id=3000000000', ['1 id,eq,3000000000', ...ALL]],
    [
      'a field with 403',
      { refusal: 403, unfiltered: ['label'] },
      '-f label=x',
      ['1 label,eq,x', ...ALL],
    ],
  ])('%s gets the list by id: %s', async (_, habits, options, requests) => {
    const { asked, imgctl } = await userOf(habits);
    expect(await asked(`images list ${options}`)).toMatchObject({ requests, exitCode: 0 });
    const { stderr } = await imgctl(`images list ${options} --debug`);
    expect(stderr).toContain('debug: the service refused ');
  });

  it.each<[string, Habits]>([
    ['nosuch.ova', { unfiltered: ['label'] }],
    ['nosuch.ova', { unfiltered: ['label'], refusal: 404 }],
    ['3000000000', {}],
    ['3000000000', { refusal: 500 }],
  ])('a part of images get %s is told from an image that is nowhere: %j', async (name, habits) => {
    const { imgctl } = await userOf(habits);
    const { stderr, exitCode } = await imgctl(`images get ${name}`);
    expect({ stderr, exitCode }).toEqual({ stderr: expect.stringContaining(name), exitCode: 5 });
  });

  it.each([
    ['filters of ids', { unfiltered: ['id'] }],
    ['to sort by id', { unsorted: ['id'], secondKey: 'id' as const }],
  ])('%s sends the pages by number, and all images', async (_, habits) => {
    const { asked, ids } = await userOf(habits);
    const { found, stderr, requests } = await asked('images list');
    expect({ found, stderr }).toEqual({ found: await ids('order by id desc'), stderr: '' });
    expect(requests.some((request) => request.startsWith('3'))).toBe(true);
  });
});

describe('--page', () => {
  it('shows the page of the filter as typed', async () => {
    const { asked } = await userOf(MINDS);
    const { requests, stderr, found } = await asked('images list --page 1 -f name~ubuntu');
    expect(requests).toEqual(['1 name,like,%ubuntu% by undefined']);
    expect(stderr).toBe('');
    expect(found.length).toBeGreaterThan(20);
  });

  it.each<[Habits, RegExp]>([
    [{ endsWith404: true }, /page 99 does not exist/],
    [{}, /page 99 does not exist; the last page is 3/],
  ])('names a page that a service does not have: %j', async (habits, text) => {
    const { asked } = await userOf(habits);
    const stderr = expect.stringMatching(text);
    expect(await asked('images list --page 99')).toMatchObject({ stderr, exitCode: 5 });
  });
});

it.each([
  ['null', /6|3/],
  ['web,in,prod', /no image is named web,in,prod/],
  ['a,b-3.ova', /a,b-3/],
])('images get takes any name as a name: %s', async (name, shown) => {
  const { imgctl } = await userOf();
  const { stdout, stderr } = await imgctl(['images', 'get', name]);
  expect(stdout + stderr).toMatch(shown);
  expect(stderr).not.toMatch(/unknown|no image is named (null|a,b)/);
});

describe('images lock check', () => {
  it.each<[string, Habits, number]>([
    // A page for each lock, the first page of all, and questions about case.
    ['all of few images', {}, 7],
    ['all of few images', MINDS, 7],
    ['all of many images', { from: 'images_5000' }, 62],
    ['all of many images', { from: 'images_5000', ...MINDS }, 62],
  ])('with four locks reads %s once: %j', async (_, habits, maximum) => {
    const { imgctl, server } = await userOf(habits);
    const cwd = temporaryDirectory();
    const times = { path: null, created_on: null, updated_on: null };
    const locked = ['ubuntu', 'debian', 'rocky', 'mini'].map(async (text) => {
      const sql = `select id, name from ${habits.from ?? 'images_250'} where name like '${text}-%' limit 1`;
      const [image] = (await (await database()).query<object>(sql)).rows;
      return [text, { text: [text], filters: [], ...image, ...times }];
    });
    const images = Object.fromEntries(await Promise.all(locked));
    const file = { version: 1, base_url: server.baseUrl, images };
    fs.writeFileSync(`${cwd}/images.lock.json`, JSON.stringify(file));
    await imgctl('images lock check', { cwd });
    expect(server.requests.length).toBeLessThanOrEqual(maximum);
    const ends = server.requests.filter(({ url }) => /per_page=1&.*1&sort/.test(url.search));
    expect(ends.length).toBeLessThanOrEqual(1);
  });
});
