// Machines of one account share a token in Redis, over TLS and with an ACL user.

import { describe, expect, it } from 'vitest';
import { watchChunks } from '../support/chunks.ts';
import { account, COMMAND, LIST, runBuilt } from '../support/cli.ts';
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

  // The single executable ignores NODE_OPTIONS.
  it.skipIf(COMMAND.length === 1)('loads the store only with the setting token-store', async () => {
    const redis = await startRedis();
    const { baseUrl } = await fleetService();
    const loaded = async (store: string) => {
      const own = { ...account(baseUrl), ...redis.env, IMGCTL_TOKEN_STORE: store };
      const { env, chunks } = watchChunks(own);
      expect(await runBuilt(LIST, { env })).toMatchObject({ exitCode: 0 });
      return chunks().filter((name) => ['client', 'shared-store'].includes(name));
    };
    expect(await loaded('file')).toEqual(['client']);
    expect((await loaded(redis.url)).sort()).toEqual(['client', 'shared-store']);
  });
});
