// push of 200 MB to real storages, killed at 20 moments: the same command ends with the file whole, after one sync.

import { createHash } from 'node:crypto';
import { copyFileSync, linkSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freshHome, runBuilt, startCli } from '../support/cli.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeOva } from '../support/uploads.ts';
import { report } from './home.ts';
import { inFolder, mountTmpfs, SERVERS, type ServerKind } from './upload-servers.ts';

const SIZE = 200 * 2 ** 20;
const KILLS = 20;
/** Pushes at the same time, each with a home of its own. */
const AT_ONCE = 4;

async function setUp(kind: ServerKind) {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const server = await kind.start(folder);
  let syncs = 0;
  const service = await serve({
    uploads,
    syncDelay: 100,
    tokenLimit: 1000,
    onRequest: ({ method }) => {
      if (method === 'PATCH') syncs += 1;
    },
  });
  const work = temporaryDirectory();
  const file = writeOva(work, 'whole', SIZE);
  const isLocal = !kind.name.startsWith('moto');
  const digest = digestOf(file);

  /** Prepares the push of a file of its own, by a user of its own. */
  const user = (name: string) => {
    const home = freshHome();
    const config = path.join(home.HOME, 'config');
    mkdirSync(config);
    const profiles = { default: server.settings };
    writeFileSync(path.join(config, 'config.json'), JSON.stringify({ profiles }), { mode: 0o600 });
    const env = {
      ...home,
      IMGCTL_CONFIG_DIR: config,
      IMGCTL_BASE_URL: service.baseUrl,
      IMGCTL_USERNAME: 'demo',
      IMGCTL_PASSWORD: 'demo',
      IMGCTL_UPLOAD_SECRET: 'demo',
    };
    linkSync(file, path.join(work, name));
    // The service cannot read what moto stores, so it gets a copy.
    if (!isLocal) copyFileSync(file, path.join(folder, name));
    const argv = ['push', path.join(work, name), '--poll-interval', '50ms', '--json'];
    return { env, argv, stored: path.join(folder, name) };
  };
  return { user, server, digest, isLocal, syncs: () => syncs };
}

type World = Awaited<ReturnType<typeof setUp>>;

function digestOf(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** Pushes to the end; checks what is visible while it runs, and what is there afterwards. */
async function killAndPush({ user, server, digest }: World, name: string, moment: number) {
  const { env, argv, stored } = user(name);
  const sizes = new Set<number>();
  const timer = setInterval(() => {
    const stats = statSync(stored, { throwIfNoEntry: false });
    if (stats) sizes.add(stats.size);
  }, 2);
  onTestFinished(() => clearInterval(timer));
  const push = startCli(argv, { env });
  await Promise.race([wait(moment), push.ended]);
  const isHit = push.child.exitCode === null;
  push.child.kill('SIGKILL');
  await push.ended;
  const { exitCode, stderr, stdout } = await runBuilt(argv, { env });
  expect({ name, exitCode, stderr }).toMatchObject({ name, exitCode: 0 });
  expect(JSON.parse(stdout)).toMatchObject([{ name }]);
  clearInterval(timer);
  expect(digestOf(stored)).toBe(digest);
  expect(sizes.size).toBe(1);
  const left = (await server.files()).filter((each) => each.includes(name) && each !== name);
  expect(left).toEqual([]);
  await server.remove(name);
  return isHit;
}

describe.each(SERVERS)('push to $name', (kind) => {
  const skipped = kind.reason === '' ? '' : ` (skipped: ${kind.reason})`;

  it.skipIf(skipped !== '')(`ends whole after a kill at ${KILLS} moments${skipped}`, async () => {
    const world = await setUp(kind);
    const started = performance.now();
    const { argv, env } = world.user('first.ova');
    expect(await runBuilt(argv, { env })).toMatchObject({ exitCode: 0 });
    const duration = performance.now() - started;
    await world.server.remove('first.ova');
    let hits = 0;
    for (let first = 0; first < KILLS; first += AT_ONCE) {
      const trials = Array.from({ length: AT_ONCE }, (_, index) => first + index).map((number) =>
        killAndPush(world, `web${number}.ova`, ((number + 1) / KILLS) * duration),
      );
      hits += (await Promise.all(trials)).filter(Boolean).length;
    }
    expect(await world.server.files()).toEqual([]);
    expect(world.syncs()).toBe(KILLS + 1);
    report(
      `${kind.name}: ${hits} of ${KILLS} kills hit a running push of ${Math.round(duration)} ms`,
    );
  });
});

const NO_ROOT = process.getuid?.() === 0 ? '' : ' (skipped: only root can mount a tmpfs)';

describe('push to a full disk', () => {
  it.skipIf(NO_ROOT !== '')(`fails with one line and leaves nothing${NO_ROOT}`, async () => {
    const start = async (folder: string) => {
      mountTmpfs(folder, '30m');
      return inFolder(`file://${folder}`, folder);
    };
    const world = await setUp({ name: 'a small tmpfs', reason: '', start });
    const { argv, env } = world.user('web.ova');
    const { exitCode, stderr } = await runBuilt(argv, { env });
    expect(stderr).toMatch(/"folder .* is full \(ENOSPC\)","hint":"free space/);
    expect({ exitCode, syncs: world.syncs(), files: await world.server.files() }).toEqual({
      exitCode: 1,
      syncs: 0,
      files: [],
    });
  });
});
