// The recipes in docs/: units, workflows, Terraform, Packer and MCP clients run commands that work.

import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { VARIABLES } from '../../src/config/definitions.ts';
import { codeBlocks, ROOT, readPage } from '../support/documents.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';
import { unixOnly } from '../support/platform.ts';
import { runShell } from '../support/program.ts';
import { ACL } from '../support/redis.ts';
import { missing, skipped } from '../support/requirements.ts';
import { ACCESS_KEY } from '../support/s3-server.ts';
import { folderUser, SECRETS, storageUser, writeOva } from '../support/uploads.ts';
import { emulatorUser, PASSWORD } from '../support/users.ts';

const PAGES = readdirSync(path.join(ROOT, 'docs'))
  .filter((name) => name.endsWith('.md') && name !== 'cli.md')
  .map((name) => readPage(`docs/${name}`));
const EVERYTHING = PAGES.join('\n');

/** Returns the arguments in lines such as `run: imgctl sync`, `["imgctl", "sync"]` and `args: [sync]`. */
function commandsIn(code: string): string[] {
  const plain = code.replaceAll(/"\$(\w+)"/g, '$1').replaceAll('["imgctl", ', 'args: [');
  const calls = [...plain.matchAll(/\bimgctl ([a-z][^">\n]*)|args"?: \[(.*)\]/g)];
  return calls.map(([, line, list = '']) => line ?? list.replaceAll('"', '').replaceAll(', ', ' '));
}

const SETTINGS = PAGES.flatMap((page) => codeBlocks(page, 'sh')).flatMap(
  (block) => block.match(/(?<=^imgctl )config set .*token.*$/gm) ?? [],
);
const COMMANDS = PAGES.flatMap((page) =>
  codeBlocks(page, 'ini', 'yaml', 'hcl', 'json').flatMap(commandsIn),
);

/** A user with a package, a lock and upload variables. */
async function recipeUser() {
  const uploads = temporaryDirectory();
  const user = await emulatorUser({ images: 250, syncDelay: 0, uploads });
  const { uploadUrl = '' } = user.emulator;
  const cwd = temporaryDirectory();
  for (const folder of ['dist', 'output']) {
    mkdirSync(path.join(cwd, folder));
    await writeSampleOva(path.join(cwd, folder, 'appliance.ova'), 'appliance');
  }
  const env = {
    ...PASSWORD,
    IMGCTL_UPLOAD_URL: uploadUrl,
    IMGCTL_UPLOAD_USERNAME: 'demo',
    IMGCTL_UPLOAD_PASSWORD: 'demo',
  };
  const stdin = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n';
  const run = (line: string) => {
    return user.imgctl(line, { env, cwd, stdin, time: Date.now() });
  };
  await run('images lock add web ubuntu 22.04 server');
  return { cwd, run };
}

it.each([...COMMANDS, ...SETTINGS])('a recipe in docs/ can run imgctl %s', async (line) => {
  const { run } = await recipeUser();
  const { stdout, stderr, exitCode } = await run(line);
  expect({ stderr, exitCode }).toEqual({ stderr: expect.any(String), exitCode: 0 });
  if (line === 'mcp') expect(stdout).toContain('"id":1');
  // The external data source of Terraform takes an object of strings only.
  if (/--columns name,path --json$/.test(line)) {
    expect(Object.values(JSON.parse(stdout)).map((value) => typeof value)).toEqual(
      Array(2).fill('string'),
    );
  }
});

it('the lock file has what the recipe for Terraform reads', async () => {
  const { cwd } = await recipeUser();
  const lock = JSON.parse(readFileSync(path.join(cwd, 'images.lock.json'), 'utf8'));
  expect(EVERYTHING).toContain('jsondecode(file("images.lock.json")).images');
  expect(lock.images.web.path).toMatch(/^\[.+\] ubuntu\/ubuntu-22\.04-server-/);
});

it('docs/ names only variables that imgctl reads', () => {
  const names = new Set(EVERYTHING.match(/\bIMGCTL_[A-Z_]+/g));
  const others = ['IMGCTL_BIN', 'IMGCTL_DEB', 'IMGCTL_KEY'];
  expect([...names].filter((name) => !VARIABLES.includes(name) && !others.includes(name))).toEqual(
    [],
  );
});

unixOnly('a script of sh')('the script for metrics says how a command ended', async () => {
  const cwd = temporaryDirectory();
  const [script = ''] = codeBlocks(readPage('docs/unattended.md'), 'shell');
  expect(script.trim().split('\n').length).toBeLessThanOrEqual(10);
  writeFileSync(
    path.join(cwd, 'metrics'),
    script.replace('/var/lib/prometheus/node-exporter', cwd),
    { mode: 0o755 },
  );
  const file = path.join(cwd, 'imgctl_job.prom');
  const valuesOf = () => {
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    const sample = /^imgctl_last_(\w+)\{name="job"\} (\d+)$/;
    return Object.fromEntries(
      lines.map((line) => [sample.exec(line)?.[1], Number(sample.exec(line)?.[2])]),
    );
  };
  const started = Math.floor(Date.now() / 1_000);
  const run = async (command: string) => {
    const { exitCode } = await runShell(`./metrics job sh -c '${command}'`, {
      cwd,
      env: process.env,
    });
    return { exitCode, ...valuesOf() };
  };
  const never = {
    exit_code: 1,
    success_timestamp_seconds: 0,
    duration_seconds: expect.any(Number),
  };
  const first = await run('exit 1');
  expect(first).toEqual({ exitCode: 1, end_timestamp_seconds: expect.any(Number), ...never });
  const success = await run('sleep 1.1');
  expect(success.duration_seconds).toBeGreaterThanOrEqual(1);
  expect(success.success_timestamp_seconds).toBe(success.end_timestamp_seconds);
  expect(success.end_timestamp_seconds).toBeGreaterThan(started);
  const { success_timestamp_seconds } = success;
  // A signal ends the command, and the script still writes.
  for (const [command, exitCode] of [
    ['exit 3', 3],
    ['kill -TERM $PPID; exit 143', 143],
  ] as const) {
    const values = { exitCode, exit_code: exitCode, success_timestamp_seconds };
    expect(await run(command)).toMatchObject(values);
  }
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/(success_timestamp_seconds.*) \d+/, '$1 5'));
  expect(await run('exit 7')).toMatchObject({ exitCode: 7, success_timestamp_seconds: 5 });
  // images changes --exit-code found changes.
  expect((await run('exit 10')).success_timestamp_seconds).toBeGreaterThan(started);
  expect(readdirSync(cwd).sort()).toEqual(['imgctl_job.prom', 'metrics']);
  expect(EVERYTHING).toContain('time() - imgctl_last_success_timestamp_seconds{name="sync"}');
});

const REMOVALS = [
  ['rm', folderUser],
  ['curl', () => storageUser('dav')],
  ['aws', () => storageUser('s3')],
] as const;

for (const [program, createUser] of REMOVALS) {
  const reason = missing('bash', program);
  const title = `docs/push.md removes an image with ${program}${skipped(reason)}`;
  it.skipIf(reason)(title, async () => {
    const user = await createUser();
    const { folder, imgctl, work, stored } = user;
    await imgctl(`push ${writeOva(work, 'appliance')}`);
    expect(stored()).toEqual(['appliance.ova']);
    const [, line = ''] =
      new RegExp(`^\\| \\w+ \\| \`(${program} .*)\` \\|$`, 'm').exec(readPage('docs/push.md')) ??
      [];
    const { 'upload-url': url = '' } = 'settings' in user ? user.settings : {};
    const script = line
      .replace('/mnt/uploads', folder)
      .replace('https://uploads.example.com/alice', url.replace('dav+', ''))
      .replace('https://s3.example.com', url.replace('s3+', '').replace(/\/s3$/, ''))
      .replace('BUCKET/PREFIX', 's3')
      .replace('alice:$(pass show uploads)', `demo:${SECRETS.storage}`);
    const aws = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRETS.storage };
    const { PATH, HOME } = process.env;
    const region = { AWS_DEFAULT_REGION: 'us-east-1' };
    await promisify(execFile)('bash', ['-ec', script], { env: { PATH, HOME, ...aws, ...region } });
    expect(stored()).toEqual([]);
    expect((await imgctl('sync --wait')).exitCode).toBe(0);
    expect((await imgctl('my-images -q')).stdout).toBe('');
  });
}

it('docs/unattended.md gives the Redis user the rights that the tests use', () => {
  expect(readPage('docs/unattended.md')).toContain(`user imgctl on >PASSWORD ${ACL}\n`);
});
