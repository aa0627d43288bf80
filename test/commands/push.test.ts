// push: check, upload, one sync, the new images; reruns, conflicts and refusals, with a folder as the storage.

import { createHash } from 'node:crypto';
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
import { failed, temporaryDirectory } from '../support/io.ts';
import { folderUser, writeOva, writeOvf } from '../support/uploads.ts';

const FAST = '--poll-interval 5ms';
const DONE = { exitCode: 0, stored: ['web.ova'], syncs: 1 };

describe('push', () => {
  it('uploads an OVA, syncs once and prints the new image', async () => {
    const { imgctl, work, folder, stored, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    const { stdout, exitCode } = await imgctl(`push ${file} ${FAST} --json`);
    expect(JSON.parse(stdout)).toMatchObject([{ name: 'web.ova', public: false }]);
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual(DONE);
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

  it('uploads nothing again, but submits one sync, unless --force is given', async () => {
    const { imgctl, work, folder, stored, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    writeFileSync(path.join(folder, 'web.ova'), readFileSync(file));
    const { stdout, stderr, exitCode } = await imgctl(`push ${file} ${FAST} -o csv`);
    expect(stderr).toContain('imgctl: web.ova: already there\n');
    expect(stdout).toContain('web.ova');
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual(DONE);
    const forced = await imgctl(`push ${file} ${FAST} --force`);
    expect(forced.stderr).toContain('web.ova: uploaded');
    expect(syncs()).toBe(2);
  });

  it('needs no place for its own files', async () => {
    const { imgctl, work, stored, folder } = await folderUser();
    const settings = { IMGCTL_CONFIG_DIR: undefined, HOME: temporaryDirectory() };
    await imgctl(`config set upload-url file://${folder}`, settings);
    const changes = { ...settings, XDG_STATE_HOME: '/dev/null/x' };
    const { stderr, exitCode } = await imgctl(`push ${writeOva(work, 'web')} --no-sync`, changes);
    expect(stderr).not.toContain('warning');
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: ['web.ova'] });
  });

  it('uploads without a service with --no-sync', async () => {
    const { imgctl, work, stored, requests } = await folderUser();
    const { stdout } = await imgctl(`push ${writeOva(work, 'web')} --no-sync -o csv`);
    expect(stdout).toMatch(/^name,size,state\r?\nweb\.ova,\d+,uploaded\r?\n$/);
    expect({ stored: stored(), requests }).toEqual({ stored: ['web.ova'], requests: [] });
  });

  it('prints the sync request with --no-wait', async () => {
    const { imgctl, work, syncs } = await folderUser();
    const { stdout } = await imgctl(`push ${writeOva(work, 'web')} --no-wait --json`);
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, response: {} });
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
    ['whose response was lost', `${SUBMIT}=drop,first=1`, 3],
    ['that the service refused', `${SUBMIT}=503,first=1`, 1],
  ])('%s says how to check, and submits one sync in the next run', async (_what, fault, code) => {
    const { imgctl, work, syncs } = await folderUser({ faults: [parseFault(fault)] });
    const file = writeOva(work, 'web');
    const first = await imgctl(`push ${file} ${FAST}`);
    expect(first).toEqual(
      failed(
        code,
        /imgctl: the sync may have been submitted: .*\nhint: check before you submit another: /,
      ),
    );
    const { stdout, stderr, exitCode } = await imgctl(`push ${file} ${FAST} -o csv`);
    expect(stdout).toContain('web.ova');
    expect(stderr).not.toContain('no sync');
    expect({ exitCode, syncs: syncs() }).toEqual({ exitCode: 0, syncs: 2 });
  });
});

describe('push of a file that stands twice', () => {
  it('sends it once', async () => {
    const { imgctl, work, stored, syncs } = await folderUser();
    const file = writeOva(work, 'web');
    const { stderr, exitCode } = await imgctl(`push ${file} ${work}/./web.ova ${FAST}`);
    expect(stderr.match(/web\.ova: /g)).toHaveLength(2);
    expect(stderr).toContain('web.ova: uploading\nimgctl: web.ova: uploaded');
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual(DONE);
  });

  it('sends a disk once that two packages share, and checks it against both manifests', async () => {
    const { imgctl, work, stored, folder } = await folderUser();
    const file = writeOvf(work, 'db');
    const copyOf = (name: string, change: (text: string) => string) => {
      const own = path.join(path.dirname(file), name);
      writeFileSync(own, change(readFileSync(own.replace('other', 'db'), 'utf8')));
      return own;
    };
    const other = copyOf('other.ovf', (text) => text);
    copyOf('other.mf', (text) => text.replace('db.ovf', 'other.ovf'));
    const { stderr, exitCode } = await imgctl(`push ${file} ${other} ${FAST}`);
    expect(stderr.match(/db-disk1\.vmdk: uploaded/g)).toHaveLength(1);
    const files = ['db-data.iso', 'db-disk1.vmdk', 'db.mf', 'db.ovf', 'other.mf', 'other.ovf'];
    expect({ exitCode, stored: stored() }).toEqual({ exitCode: 0, stored: files });
    for (const name of files) rmSync(path.join(folder, name));
    const disk = readFileSync(path.join(work, 'db', 'db-disk1.vmdk'));
    const right = createHash('sha256').update(disk).digest('hex');
    copyOf('other.mf', (text) =>
      text.replace('db.ovf', 'other.ovf').replace(right, '0'.repeat(64)),
    );
    const wrong = await imgctl(`push ${file} ${other} ${FAST}`);
    expect(wrong.stdout).toContain('digest-mismatch');
    expect({ exitCode: wrong.exitCode, stored: stored() }).toEqual({
      exitCode: 1,
      stored: files.slice(0, 4),
    });
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
  const flip = (file: string) => {
    const bytes = readFileSync(file);
    bytes[5000] = (bytes[5000] ?? 0) ^ 1;
    writeFileSync(file, bytes);
  };

  it.each<[string, string, (file: string) => void, RegExp]>([
    ['a flipped byte', 'db-data.iso', flip, /error +digest-mismatch +db-data\.iso/],
    ['a missing disk', 'db-disk1.vmdk', rmSync, /error +missing-file +db-disk1\.vmdk/],
    ['a truncated OVA', 'web.ova', (file) => truncateSync(file, 50_000), /truncated-member/],
    ['bytes after its end', 'web.ova', (file) => appendFileSync(file, 'x'), /trailing-data/],
  ])('with %s, and shows nothing of it', async (_what, name, damage, finding) => {
    const { imgctl, work, stored, syncs, requests } = await folderUser();
    const isOva = name.endsWith('.ova');
    const file = isOva ? writeOva(work, 'web') : writeOvf(work, 'db');
    damage(path.join(path.dirname(file), name));
    const { stdout, stderr, exitCode } = await imgctl(`push ${file} ${FAST}`);
    expect(stdout).toMatch(finding);
    expect(stderr).toMatch(/imgctl: .* is invalid: \d errors?\nhint: /);
    expect({ exitCode, stored: stored(), syncs: syncs() }).toEqual({
      exitCode: 1,
      stored: [],
      syncs: 0,
    });
    if (damage !== flip) expect(requests).toEqual([]);
  });

  it('for a folder, and names the file to push', async () => {
    const { imgctl, work } = await folderUser();
    const { stderr, exitCode } = await imgctl(`push ${work}`);
    expect(stderr).toMatch(/hint: .*OVF file, such as .*\/NAME\.ova\n$/);
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
