// A service for bench/start.mjs that always returns the same page of 100 images over HTTPS.
// Usage: node bench/https-page.mjs <key.pem> <certificate.pem>; prints its base URL when it is ready.

import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

const [key, cert] = process.argv.slice(2).map((file) => readFileSync(file));
const server = createServer({ key, cert }, (request, response) => {
  request.resume();
  const [type, body] = request.url.startsWith('/auth') ? token() : page();
  response.writeHead(200, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`${baseUrl()}\n`));

function baseUrl() {
  return `https://localhost:${server.address().port}`;
}

function token() {
  return ['application/json', JSON.stringify({ token: 'bench', duration: 86_400, type: 'ACCESS' })];
}

function page() {
  const url = `${baseUrl()}/v2/image?per_page=100&expand=1&page=1&sort=id,desc`;
  const data = Array.from({ length: 100 }, (_, index) => {
    const name = `linux-server-${index + 1}.ova`;
    return {
      id: 100 - index,
      name,
      path: `[images] linux/${name}`,
      label: `linux/${name}`,
      folder: 'linux',
      data_store: 'images',
      public: true,
      created_on: '2018-07-18 Wed 15:36:49 EDT',
      updated_on: '2018-07-18 Wed 15:36:49 EDT',
    };
  });
  const pages = { first_url: url, last_url: url, next_url: null, prev_url: null };
  const meta = {
    _link: { self: url },
    count: data.length,
    pages: { ...pages, page: 1, pages: 1, per_page: 100, total: data.length },
    time: '0.01s',
    user: 'bench',
    sort: 'id,desc',
  };
  return ['application/json', JSON.stringify({ data, meta })];
}
