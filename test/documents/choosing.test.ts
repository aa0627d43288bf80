// The recipes for choosing images in docs/ work with the built program.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Image } from '../../src/api/types.ts';
import { catalogueByName, named } from '../support/catalogue-page.ts';
import { codeBlocks, readPage } from '../support/documents.ts';
import { temporaryDirectory } from '../support/io.ts';
import { programUser, runShell, writePrograms } from '../support/program.ts';

const SECTIONS = ['docs/unattended.md', 'docs/integrations.md'].flatMap((page) =>
  readPage(page).split('\n## '),
);

/** Returns the code blocks of a section. */
const blocksOf = (title: string) =>
  codeBlocks(SECTIONS.find((part) => part.startsWith(`${title}\n`)) ?? '');

const UBUNTU = named(1, 'ubuntu-22.04-server.ova');
const NEWER = named(2, 'ubuntu-24.04-server.ova');
const DEBIAN = named(3, 'debian-12-genericcloud.ova');

/** A folder, a service whose images a test changes, and a shell with imgctl and other programs on its PATH. */
async function choosingUser() {
  const service: { images: readonly Image[] } = { images: [UBUNTU, DEBIAN] };
  const { env } = await programUser((...request) => catalogueByName(service.images)(...request));
  const folder = temporaryDirectory();
  const project = path.join(folder, 'project');
  mkdirSync(project);
  const log = path.join(folder, 'called');
  writeFileSync(log, '');
  const bin = path.join(folder, 'bin');
  const call = `echo "$(basename $0) $*" >> ${log}`;
  writePrograms(bin, { packer: call, gh: call });
  const PATH = `${bin}:${env.PATH}`;
  const options = { cwd: project, env: { ...env, PATH, GIT_CONFIG_GLOBAL: '/dev/null' } };
  const shell = (script: string) => runShell(script, options);
  return { service, folder, project, shell, called: () => readFileSync(log, 'utf8') };
}

/** Without the variables that git sets for its hooks. */
const git = (project: string, line: string) =>
  execFileSync('git', ['-C', project, ...line.split(' ')], {
    ...{ encoding: 'utf8', stdio: 'pipe', env: { PATH: process.env.PATH } },
  });

describe('the recipes for choosing images', () => {
  it('mail what is new, once, and nothing else', async () => {
    const { service, shell } = await choosingUser();
    const [, crontab = ''] = blocksOf('cron');
    const line = crontab.split('\n').find((each) => each.includes('--cursor mail')) ?? '';
    expect(line).not.toContain('%');
    const command = line.split(' ').slice(5).join(' ');
    expect(await shell(command)).toMatchObject({ stdout: '', exitCode: 0 });
    expect(await shell(command)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
    service.images = [UBUNTU, NEWER, DEBIAN];
    const added = expect.stringMatching(/^added\t2\tubuntu-24\.04-server\.ova\t/);
    expect(await shell(command)).toMatchObject({ stdout: added, stderr: '' });
    expect(await shell(command)).toEqual({ stdout: '', stderr: '', exitCode: 0 });
  });

  it('pass the newest image to Packer, or do not start it', async () => {
    const { service, shell, called } = await choosingUser();
    const [packer = ''] = blocksOf('The newest image in a build');
    service.images = [UBUNTU, NEWER];
    expect((await shell(packer)).exitCode).toBe(0);
    const started = `packer build -var image_path=${NEWER.path} template.pkr.hcl\n`;
    expect(called()).toBe(started);
    service.images = [UBUNTU, named(4, 'ubuntu-24.04-server-arm64.ova')];
    expect((await shell(packer)).exitCode).toBe(2);
    expect(called()).toBe(started);
  });

  it('open an update only if a locked image changed or a newer one exists (needs git)', async () => {
    const { service, folder, project, shell, called } = await choosingUser();
    const [add = '', , workflow = '', update = ''] = blocksOf('The same image in every build');
    const remote = path.join(folder, 'remote.git');
    git(folder, `init -q --bare ${remote}`);
    for (const line of ['init -q', `remote add origin ${remote}`]) git(project, line);
    for (const key of ['user.name', 'user.email']) git(project, `config ${key} a`);
    expect(await shell(add)).toMatchObject({ exitCode: 0 });
    git(project, 'commit -qm Lock');
    const { run: check } = parse(workflow).jobs.check.steps.at(-1);

    expect(await shell(update)).toMatchObject({ exitCode: 0 });
    expect(await shell(check)).toMatchObject({ exitCode: 0 });
    expect(called()).toBe('');
    service.images = [UBUNTU, NEWER, DEBIAN];
    expect(await shell(update)).toMatchObject({ exitCode: 0 });
    expect(called()).toBe('gh pr create --fill\n');
    const pushed = git(remote, 'show update-images:images.lock.json');
    expect(pushed).toContain(NEWER.path);
    expect(await shell(check)).toMatchObject({ exitCode: 0 });
    // The branch exists, so nothing may be committed to the one that is checked out.
    service.images = [NEWER, DEBIAN, named(6, 'ubuntu-26.04-server.ova')];
    expect(await shell(update)).toMatchObject({ exitCode: 128 });
    expect(git(project, 'show HEAD:images.lock.json')).toBe(pushed);
  });
});
