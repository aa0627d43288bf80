// The shell blocks of README.md and docs/ work as they are written, with the emulator.

import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeBlocks, ROOT, readPage } from '../support/documents.ts';
import { sampleMembers, writeSampleOva } from '../support/package-writer.ts';
import { type RunningEmulator, startEmulatorProgram, writePrograms } from '../support/program.ts';
import { missing, skipped } from '../support/requirements.ts';

const USERS = ['demo', 'alice', 'backup'];

/** Programs that install software or need a service of the machine, so that their blocks cannot run here. */
const ELSEWHERE =
  /^(?:npm|git|sudo|node tools|podman|docker|brew|tar|kubectl|openssl rand)\b|token-store|\b(?:terraform|packer) /m;
const PROGRAMS = ['bash', 'jq', 'curl', 'openssl'];
const MISSING = skipped(missing(...PROGRAMS));

const PAGES = ['README.md', ...readdirSync(path.join(ROOT, 'docs')).map((name) => `docs/${name}`)];
/** Those of docs/cli.md that are no examples, which have a test of their own, install completion. */
const INSTALLS = /imgctl completion.*>/;
const BLOCKS = PAGES.filter((page) => page.endsWith('.md')).flatMap((page) => {
  const own = codeBlocks(readPage(page), 'sh').filter(
    (text) => page !== 'docs/cli.md' || INSTALLS.test(text),
  );
  return own.filter((text) => !ELSEWHERE.test(text)).map((text) => [page, text.trim()] as const);
});

let folder: string;
let emulator: RunningEmulator;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'imgctl-documents-'));
  mkdirSync(path.join(folder, 'work'));
  for (const name of USERS) {
    mkdirSync(path.join(folder, 'uploads', name), { recursive: true });
    await writeSampleOva(path.join(folder, 'uploads', name, 'sample.ova'));
  }
  await writeSampleOva(path.join(folder, 'work/appliance.ova'), 'appliance');
  for (const { name, content } of sampleMembers('appliance'))
    writeFileSync(path.join(folder, 'work', name), content);
  writeFileSync(path.join(folder, 'password'), 'demo\n');
  // fzf chooses the first line.
  const fzf = 'head -n 1; cat >/dev/null';
  writePrograms(path.join(folder, 'bin'), { pass: 'echo demo', fzf });
  emulator = await startEmulatorProgram(
    ...USERS.flatMap((name) => ['--user', `${name}:demo`]),
    ...['--token-limit', '100', '--sync-delay', '1ms', '--uploads', path.join(folder, 'uploads')],
  );
  await runBlock(
    'sync',
    `imgctl login --base-url ${emulator.baseUrl} -u alice; imgctl sync --wait`,
  );
});

afterAll(async () => {
  await emulator.stop();
  rmSync(folder, { recursive: true });
});

/** Each page has its own user. */
function homeOf(page: string): string {
  return path.join(folder, 'homes', path.basename(page));
}

/** Runs a block in bash as a user with the password in the environment would. */
async function runBlock(page: string, text: string) {
  const home = homeOf(page);
  mkdirSync(home, { recursive: true });
  const script = text
    .replace('dav+https://uploads.example.com/alice', `dav+${emulator.baseUrl}/upload`)
    .replaceAll('https://images.example.com', emulator.baseUrl)
    // Another address, so another service.
    .replaceAll('https://staging.example.com', emulator.baseUrl.replace('127.0.0.1', 'localhost'))
    .replace('/mnt/uploads', path.join(folder, 'uploads/alice'))
    .replaceAll('~/.imgctl-password', path.join(folder, 'password'));
  const env = {
    PATH: `${path.join(folder, 'bin')}:${process.env.PATH}`,
    HOME: home,
    USER: 'alice',
    IMGCTL_PASSWORD: 'demo',
  };
  const options = { cwd: path.join(folder, 'work'), env, timeout: 300_000 };
  // Without --norc, bash takes the socket on its stdin for a remote login and reads bashrc, which may break with -u.
  const strict = ['--norc', '-eu', '-o', 'pipefail', '-c', script];
  return promisify(execFile)('bash', strict, options);
}

const SILENT = /^imgctl (?:login|completion|config set|images changes)\b|>>? ~|> \S+\.cert$/m;

describe.skipIf(MISSING)(`the shell blocks${MISSING}`, () => {
  it.each(BLOCKS)('of %s run: %s', async (page, text) => {
    // Some blocks log in as other users.
    const login = 'imgctl login -q --base-url https://images.example.com -u alice';
    await runBlock(page, `${login}; imgctl config set upload-url /mnt/uploads`);
    const { stdout } = await runBlock(page, text);
    if (!SILENT.test(text)) expect(stdout).toMatch(/./);
  });

  it('that sign a package make a signature that imgctl verifies', async () => {
    const { stdout } = await runBlock('docs/push.md', 'imgctl inspect appliance.ovf');
    expect(stdout).toMatch(/^signed by +alice \(RSA, SHA256\), valid until .*, self-signed;/m);
  });

  it.each([
    ...['.local/share/bash-completion/completions/imgctl', '.bashrc', '.zfunc/_imgctl', '.zshrc'],
    '.config/fish/completions/imgctl.fish',
  ])('that install completion write %s', (file) => {
    const text = readFileSync(path.join(homeOf('docs/cli.md'), file), 'utf8');
    expect(text).toMatch(/imgctl (?:completion bash|__complete)|compinit/);
  });
});
