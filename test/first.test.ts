// The example of "Your first test" in docs/development/testing.md.

import { expect, it } from 'vitest';
import { catalogueOf, named } from './support/catalogue-page.ts';
import { scriptedUser } from './support/users.ts';

it('images list prints the images of the service, after one request', async () => {
  const images = [named(1, 'alma-9.ova'), named(2, 'rocky-9.ova')];
  const { imgctl, requests } = await scriptedUser(catalogueOf(images));
  const result = await imgctl('images list -o csv -c id,name');
  const stdout = 'id,name\r\n2,rocky-9.ova\r\n1,alma-9.ova\r\n';
  expect(result).toEqual({ stdout, stderr: '', exitCode: 0 });
  expect(requests()).toEqual([expect.stringMatching(/^GET \/v2\/image\?/)]);
});
