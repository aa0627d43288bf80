// The image commands on a service that filters and sorts with PostgreSQL, which no code of ours can influence.

import { describe, expect, it } from 'vitest';
import { idsOf } from '../../support/catalogue-page.ts';
import { database, type Habits, sqlService } from '../../support/sql-service.ts';
import { scriptedUser } from '../../support/users.ts';

/** A user of a service with 5,000 images. */
async function userOf(habits: Habits = {}) {
  const db = await database();
  const user = await scriptedUser(sqlService(db, { from: 'images_5000', ...habits }));
  const idsIn = async (sql: string) =>
    (await db.query<{ id: number }>(`select id from images_5000 ${sql}`)).rows.map(({ id }) => id);
  return { ...user, idsIn };
}

describe('an ordinary service', () => {
  it('repeats and lacks images in its pages if equal values have no order', async () => {
    const { server } = await userOf();
    const ids = new Set<number>();
    for (let page = 1; page <= 50; page += 1) {
      const query = `expand=1&sort=data_store,asc&per_page=100&page=${page}`;
      const response = await fetch(`${server.baseUrl}/v2/image?${query}`);
      const { data } = (await response.json()) as { data: { id: number }[] };
      for (const { id } of data) ids.add(id);
    }
    expect(ids.size).toBeLessThan(5_000);
  });

  it.each<[string, Habits]>([
    ['empty', {}],
    ['404', { endsWith404: true, secondKey: 'id' }],
  ])(
    'is listed completely in order of ids if it ends with a page that is %s',
    async (_, habits) => {
      const { imgctl, idsIn } = await userOf(habits);
      const { stdout, stderr, exitCode } = await imgctl('images list --json');
      expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
      expect(idsOf(stdout)).toEqual(await idsIn('order by id'));
    },
  );
});
