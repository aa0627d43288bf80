// The built program behind nginx with a limit of requests: it reads all pages, and is seldom refused.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { catalogueOf, rowsOf, testImages } from '../support/catalogue-page.ts';
import { temporaryDirectory } from '../support/io.ts';
import { runProgram } from '../support/program.ts';
import { missing, skipped } from '../support/requirements.ts';
import { scriptedServer } from '../support/scripted-server.ts';
import { freshHome } from '../support/users.ts';
import { startProgram } from './upload-servers.ts';

const reason = missing('nginx');

/** Starts nginx in front of a server; its log has the status of each response. */
async function limited(target: string, perSecond: number, burst: string, status: number) {
  const log = path.join(temporaryDirectory(), 'log');
  const url = await startProgram('nginx', (host, own) => {
    const file = path.join(own, 'config');
    const config = `pid ${own}/pid; error_log ${own}/error.log; daemon off; master_process off; events {}
http { log_format status '$status'; access_log off; limit_req_zone $binary_remote_addr zone=all:1m rate=${perSecond}r/s;
server { listen ${host}; location / { return 204; } location /v2 { access_log ${log} status;
limit_req zone=all ${burst}; limit_req_status ${status}; proxy_pass ${target}; } } }`;
    writeFileSync(file, config);
    return ['-c', file];
  });
  return { url, log };
}

/** Lists 50 pages; returns the number of requests and how many nginx refused. */
async function listLimited(target: string, perSecond: number, burst: string, status: number) {
  const { url, log } = await limited(target, perSecond, burst, status);
  const env = { ...freshHome(), IMGCTL_BASE_URL: url, IMGCTL_TOKEN: 'T' };
  const { stdout, ...result } = await runProgram(['images', 'list', '--json'], { env });
  const statuses = readFileSync(log, 'utf8').trim().split('\n').map(Number);
  const refused = statuses.filter((each) => each === status).length;
  return { ...result, images: rowsOf(stdout).length, requests: statuses.length, refused };
}

// At the same time, as they mostly wait.
it.skipIf(reason !== '')(
  `images list is complete behind nginx with limits, and at most one request in five is refused${skipped(reason)}`,
  async () => {
    const { baseUrl } = await scriptedServer(catalogueOf(testImages(5_000)));
    const limits = [10, 5, 2].flatMap((perSecond) =>
      ['', 'burst=10 nodelay'].map((burst) => ({ perSecond, burst })),
    );
    const results = await Promise.all(
      limits.map(async ({ perSecond, burst }, index) => {
        const status = index % 2 === 0 ? 429 : 503;
        const result = await listLimited(baseUrl, perSecond, burst, status);
        return { perSecond, burst, status, ...result };
      }),
    );
    for (const { requests, refused, ...result } of results) {
      expect(result).toMatchObject({ stderr: '', exitCode: 0, images: 5_000 });
      expect({ ...result, requests, refused, few: refused <= requests / 5 }).toMatchObject({
        few: true,
      });
    }
    expect(results.some(({ refused }) => refused > 0)).toBe(true);
  },
);
