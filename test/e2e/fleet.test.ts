// Machines of one account share a token in Redis, over TLS and with an ACL user.

import { describe, expect, it } from 'vitest';
import { account, LIST, runBuilt } from '../support/cli.ts';
import { endOf, expectComplete, fleetService, listOn, machinesOf } from '../support/fleet.ts';
import { NO_REDIS, REDIS_REASON, startRedis } from '../support/redis.ts';

const MACHINES = 8;

describe.skipIf(NO_REDIS)(`a fleet with a token store${REDIS_REASON}`, () => {
  it('sends one token request in all, and one more after the token is revoked', async () => {
    const redis = await startRedis({ tls: true });
    const service = await fleetService();
    const ca = { ...redis.env, NODE_EXTRA_CA_CERTS: redis.caFile };
    const run = async () =>
      expectComplete(await endOf(listOn(machinesOf(MACHINES, service.baseUrl, ca))));
    await run();
    expect(service.tokenRequests()).toBe(1);
    service.expireTokens();
    await run();
    expect(service.tokenRequests()).toBe(2);
  });

  it('loads the store only with the setting token-store', async () => {
    const redis = await startRedis();
    const { baseUrl } = await fleetService();
    const loaded = async (store: string) => {
      const env = { ...account(baseUrl), ...redis.env, IMGCTL_TOKEN_STORE: store };
      const { stderr } = await runBuilt(LIST, { env: { ...env, NODE_DEBUG: 'module' } });
      return stderr.match(/chunks\/(client|open-shared-store)-/g)?.map((name) => name.slice(7, -1));
    };
    expect(new Set(await loaded('file'))).toEqual(new Set(['client']));
    expect(new Set(await loaded(redis.url))).toEqual(new Set(['client', 'open-shared-store']));
  });
});
