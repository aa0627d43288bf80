// push: check, upload, one sync, the new images; reruns, conflicts and refusals, with a folder as the storage.

import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseFault } from '../../src/emulator/faults.ts';
import { failed, runCli, temporaryDirectory } from '../support/io.ts';
import { folderUser, writeOva, writeOvf } from '../support/uploads.ts';
import { PASSWORD } from '../support/users.ts';

const FAST = '--poll-interval 5ms';

describe('push', () => {
  it('uploads an OVA, syncs once and prints the new image', async () => {
    const { imgctl, work, folder, stored, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    const { stdout, exitCode } = await imgctl(`push ${file} ${FAST} --json`);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'web.ova', public: false }]);
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual({
      exitCode: 0,
      stored: ['web.ova'],
      syncs: 1,
    });
    expect(readFileSync(path.join(folder, 'web.ova')).equals(readFileSync(file))).toBe(true);
  });

  it('uploads several packages, an OVF with its files, and syncs once', async () => {
    const { imgctl, work, stored, syncs } = await folderUser();
    const files = [writeOva(work, 'web'), writeOvf(work, 'db')];
    const { stdout, stderr } = await imgctl(`push ${files.join(' ')} ${FAST} -o csv`);
    expect(stdout).toMatch(/db\.ovf,[\s\S]*web\.ova,/);
    expect(stored()).toEqual(['db-data.iso', 'db-disk1.vmdk', 'db.mf', 'db.ovf', 'web.ova']);
    const order = [...stderr.matchAll(/^imgctl: (\S+): uploaded/gm)].map(([, name]) => name);
    expect(order).toEqual(['web.ova', 'db-disk1.vmdk', 'db-data.iso', 'db.mf', 'db.ovf']);
    expect(syncs()).toBe(1);
  });

  it('uploads nothing and submits no sync again', async () => {
    const { imgctl, work, syncs } = await folderUser();
    const file = writeOvf(work, 'db');
    await imgctl(`push ${file} ${FAST}`);
    const { stderr, stdout, exitCode } = await imgctl(`push ${file} ${FAST}`);
    expect(stderr).toContain(
      'imgctl: db.ovf: already there\nimgctl: already synced by sync request 1\n',
    );
    expect(stdout).toContain('db.ovf');
    expect({ exitCode, syncs: syncs() }).toEqual({ exitCode: 0, syncs: 1 });
  });

  it('recognizes a file without the journal, and then syncs', async () => {
    const { imgctl, work, folder, stored, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    writeFileSync(path.join(folder, 'web.ova'), readFileSync(file));
    const { stderr, exitCode } = await imgctl(`push ${file} ${FAST}`);
    expect(stderr).toContain('web.ova: already there');
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual({
      exitCode: 0,
      stored: ['web.ova'],
      syncs: 1,
    });
  });

  it('warns once if it cannot write the journal, and continues', async () => {
    const { imgctl, work, stored, env } = await folderUser();
    const file = writeOva(work, 'web');
    const config = readFileSync(path.join(env.IMGCTL_CONFIG_DIR, 'config.json'), 'utf8');
    const url = JSON.parse(config).profiles.default['upload-url'];
    const home = temporaryDirectory();
    const changes = { IMGCTL_CONFIG_DIR: undefined, HOME: home, XDG_STATE_HOME: '/dev/null/x' };
    await imgctl(`config set upload-url ${url}`, changes);
    const { stderr, exitCode } = await imgctl(`push ${file} ${FAST} --no-sync`, changes);
    expect(stderr.match(/warning: cannot write the journal/g)).toHaveLength(1);
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: ['web.ova'] });
  });

  it('uploads again with --force', async () => {
    const { imgctl, work, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    await imgctl(`push ${file} ${FAST}`);
    const { stderr } = await imgctl(`push ${file} ${FAST} --force`);
    expect(stderr).toContain('web.ova: uploaded');
    expect(syncs()).toBe(2);
  });

  it('uploads without a service with --no-sync', async () => {
    const { imgctl, work, stored, requests } = await folderUser();
    const { stdout } = await imgctl(`push ${writeOva(work, 'web')} --no-sync -o csv`);
    expect(stdout).toMatch(/^name,size,state\r?\nweb\.ova,\d+,uploaded\r?\n$/);
    expect({ stored: stored(), requests }).toEqual({ stored: ['web.ova'], requests: [] });
  });

  it('prints the sync request with --no-wait, and follows it the next time', async () => {
    const { imgctl, work, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    const first = await imgctl(`push ${file} --no-wait --json`);
    expect(JSON.parse(first.stdout)).toMatchObject({ id: 1, response: {} });
    const second = await imgctl(`push ${file} ${FAST} --json`);
    expect(JSON.parse(second.stdout)).toMatchObject([{ name: 'web.ova' }]);
    expect(syncs()).toBe(1);
  });

  it('shows what it would do with --dry-run, and does nothing', async () => {
    const { imgctl, work, folder, stored, syncs } = await folderUser();
    await imgctl(`push ${writeOva(work, 'old')} ${writeOva(work, 'web')} ${FAST}`);
    rmSync(path.join(folder, 'old.ova'));
    const files = [writeOva(work, 'web', 5000), writeOva(work, 'new')];
    const options = '--dry-run --on-conflict replace -o csv';
    const { stdout } = await imgctl(`push ${files.join(' ')} ${options}`);
    expect(
      stdout
        .trim()
        .split(/\r?\n/)
        .slice(1)
        .map((line) => line.replace(/,\d*$/, '')),
    ).toEqual([
      'upload,replace,web.ova',
      'upload,upload,new.ova',
      'sync,add,new.ova',
      'sync,update,web.ova',
      'sync,delete,old.ova',
    ]);
    expect({ stored: stored(), syncs: syncs() }).toEqual({ stored: ['web.ova'], syncs: 1 });
  });
});

describe('push after an interrupted submit', () => {
  const SUBMIT = 'PATCH /v2/user/image/vm';

  it.each([
    ['finds its sync and submits no other', `${SUBMIT}=drop,first=1`, 1, ''],
    [
      'submits one if there is none',
      `${SUBMIT}=503,first=1`,
      2,
      'submitted no sync; submitting one',
    ],
  ])('%s', async (_what, fault, submits, text) => {
    const { imgctl, work, syncs, env } = await folderUser({ faults: [parseFault(fault)] });
    const file = writeOva(work, 'web');
    const first = await imgctl(`push ${file} ${FAST}`);
    expect(first.stderr).toMatch(
      /imgctl: the sync may have been submitted: .*\nhint: run the same command again: it looks/,
    );
    // With a clock of its own, the search takes no time.
    const io = { env: { ...env, ...PASSWORD }, time: Date.now() };
    const { stdout, stderr, exitCode } = await runCli(['push', file, '-o', 'csv'], io);
    expect(stdout).toContain('web.ova');
    expect(stderr).toContain(text);
    expect({ exitCode, syncs: syncs() }).toEqual({ exitCode: 0, syncs: submits });
  });
});

describe('push to a storage with another file of that name', () => {
  const setUp = async () => {
    const user = await folderUser();
    const file = writeOvf(user.work, 'db');
    const taken = path.join(user.folder, 'db-data.iso');
    writeFileSync(taken, 'other');
    return { ...user, file, content: () => readFileSync(taken, 'utf8') };
  };

  it('fails before it uploads anything', async () => {
    const { imgctl, file, stored, syncs } = await setUp();
    const result = await imgctl(`push ${file} ${FAST}`);
    expect(result).toEqual(
      failed(
        1,
        /^imgctl: folder .* already has another db-data\.iso\nhint: .*--on-conflict replace\n$/,
      ),
    );
    expect({ stored: stored(), syncs: syncs() }).toEqual({ stored: ['db-data.iso'], syncs: 0 });
  });

  it('skips the whole package with --on-conflict skip', async () => {
    const { imgctl, file, stored, syncs, content } = await setUp();
    const { stderr, exitCode } = await imgctl(`push ${file} ${FAST} --on-conflict skip`);
    expect(stderr).toContain('db.ovf: skipped');
    expect({ exitCode, stored: stored(), syncs: syncs(), content: content() }).toEqual({
      exitCode: 0,
      stored: ['db-data.iso'],
      syncs: 0,
      content: 'other',
    });
  });

  it('replaces it with --on-conflict replace, and not with --force', async () => {
    const { imgctl, file, stored, content } = await setUp();
    expect((await imgctl(`push ${file} ${FAST} --force`)).exitCode).toBe(1);
    expect(content()).toBe('other');
    expect((await imgctl(`push ${file} ${FAST} --on-conflict replace`)).exitCode).toBe(0);
    expect(content()).not.toBe('other');
    expect(stored()).toHaveLength(4);
  });
});

describe('push refuses a package', () => {
  const flip = (file: string, position: number) => {
    const bytes = readFileSync(file);
    bytes[position] = (bytes[position] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  };

  it('with a flipped byte, and shows nothing of it', async () => {
    const { imgctl, work, stored, syncs } = await folderUser();
    const file = writeOvf(work, 'db');
    flip(path.join(work, 'db', 'db-data.iso'), 5000);
    const { stdout, stderr, exitCode } = await imgctl(`push ${file} ${FAST}`);
    expect(stdout).toMatch(/error +digest-mismatch +db-data\.iso/);
    expect(stderr).toMatch(/imgctl: .*db\.ovf is invalid: 1 error\nhint: /);
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual({
      exitCode: 1,
      stored: [],
      syncs: 0,
    });
  });

  it.each([
    ['a truncated OVA', 'truncated-member', (file: string) => truncateSync(file, 50_000)],
    ['bytes after its end', 'trailing-data', (file: string) => appendFileSync(file, 'x')],
  ])('with %s before it uploads anything', async (_what, code, damage) => {
    const { imgctl, work, stored, requests } = await folderUser();
    const file = writeOva(work, 'web');
    damage(file);
    const { stdout, exitCode } = await imgctl(`push ${file} ${FAST}`);
    expect(stdout).toContain(code);
    expect({ exitCode, stored: stored(), requests }).toEqual({
      exitCode: 1,
      stored: [],
      requests: [],
    });
  });

  it('with a missing disk before it uploads anything', async () => {
    const { imgctl, work, stored } = await folderUser();
    const file = writeOvf(work, 'db');
    rmSync(path.join(work, 'db', 'db-disk1.vmdk'));
    const { stdout, exitCode } = await imgctl(`push ${file} ${FAST}`);
    expect(stdout).toMatch(/error +missing-file +db-disk1\.vmdk/);
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 1, stored: [] });
  });

  it.each([
    ['a folder', '.', 'imgctl push .*/NAME\\.ova\n'],
    ['a manifest', 'x.mf', 'the OVA or OVF file of the package: imgctl push .*/NAME\\.ovf\n'],
  ])('for %s, and names the file to push', async (_what, name, hint) => {
    const { imgctl, work } = await folderUser();
    const file = path.join(work, name);
    if (name !== '.') writeFileSync(file, '');
    const { stderr, exitCode } = await imgctl(`push ${file}`);
    expect(stderr).toMatch(new RegExp(`hint: .*${hint}$`));
    expect(exitCode).toBe(1);
  });

  it('if two files have the same name', async () => {
    const { imgctl, work } = await folderUser();
    mkdirSync(path.join(work, 'other'));
    const files = [writeOva(work, 'web'), writeOva(path.join(work, 'other'), 'web')];
    const result = await imgctl(`push ${files.join(' ')}`);
    expect(result).toEqual(failed(2, 'two files are named web.ova'));
  });
});

describe('push fails', () => {
  it.each([
    ['upload-url ftp://host/x', 'invalid upload-url: ftp://host/x'],
    [
      'upload-url https://host/x',
      'invalid upload-url: https://host/x\nhint: say which protocol it speaks: dav+https://host/x or s3+',
    ],
    [
      'upload-url dav+https://u:hunter2@host/',
      'invalid upload-url: …@host/\nhint: remove the user name',
    ],
    ['upload-url s3+https://host', 'add the bucket'],
    ['upload-username a:b', 'invalid upload-username: a:…'],
    ['upload-region a/b', 'invalid upload-region: a/b'],
  ])('to store the setting %s', async (setting, text) => {
    const { imgctl } = await folderUser();
    expect(await imgctl(`config set ${setting}`)).toEqual(failed(2, text));
  });

  it('without a storage, with the command that sets it', async () => {
    const { imgctl, work } = await folderUser();
    await imgctl('config unset upload-url');
    const result = await imgctl(`push ${writeOva(work, 'web')}`);
    expect(result).toEqual(
      failed(2, 'no upload storage configured\nhint: run: imgctl config set upload-url'),
    );
  });

  it('for plain http to another host', async () => {
    const { imgctl, work } = await folderUser();
    await imgctl('config set upload-url dav+http://host.example/x');
    const result = await imgctl(`push ${writeOva(work, 'web')}`);
    expect(result).toEqual(failed(2, 'plain http would expose credentials sent to host.example'));
  });

  it('if the folder does not exist', async () => {
    const { imgctl, work, folder, syncs } = await folderUser();
    rmSync(folder, { recursive: true });
    const result = await imgctl(`push ${writeOva(work, 'web')}`);
    expect(result).toEqual(failed(5, `folder ${folder} does not exist`));
    expect(syncs()).toBe(0);
  });

  it('before the upload if the login fails', async () => {
    const { imgctl, work, stored } = await folderUser();
    const file = writeOva(work, 'web');
    expect((await imgctl(`push ${file}`, { IMGCTL_PASSWORD: 'wrong' })).exitCode).toBe(4);
    expect(stored()).toEqual([]);
  });

  it.each(['1M', '16', '2000M', 'x'])('for --part-size %s', async (size) => {
    const { imgctl, work } = await folderUser();
    const result = await imgctl(`push ${writeOva(work, 'web')} --part-size ${size}`);
    expect(result).toEqual(failed(2, `--part-size must be from 5M to 1024M (got ${size})`));
  });
});
