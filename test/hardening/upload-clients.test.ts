// curl and rclone upload to the embedded service; each is skipped if it is not installed.

import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { bytesOf } from '../support/uploads.ts';

interface Place {
  readonly baseUrl: string;
  readonly file: string;
  readonly copy: string;
}

interface Client {
  readonly title: string;
  readonly program: string;
  readonly env?: (baseUrl: string) => Record<string, string>;
  /** The arguments that upload, list, download and delete the file. */
  readonly steps: (place: Place) => readonly (readonly string[])[];
}

const NAME = 'web.ova';
const SIZE = 11 * 2 ** 20;

const CURL = ['-sSf', '-u', 'demo:demo'];

const CLIENTS: readonly Client[] = [
  {
    title: 'curl',
    program: 'curl',
    steps: ({ baseUrl, file, copy }) => {
      const url = `${baseUrl}/upload/`;
      return [
        [...CURL, '-T', file, `${url}${NAME}`],
        [...CURL, '-X', 'PROPFIND', '-H', 'Depth: 1', url],
        [...CURL, '-o', copy, `${url}${NAME}`],
        [...CURL, '-X', 'DELETE', `${url}${NAME}`],
      ];
    },
  },
  {
    title: 'rclone',
    program: 'rclone',
    env: (baseUrl) => {
      const { stdout } = spawnSync('rclone', ['obscure', 'demo'], { encoding: 'utf8' });
      return {
        RCLONE_CONFIG_E_TYPE: 'webdav',
        RCLONE_CONFIG_E_URL: `${baseUrl}/upload`,
        RCLONE_CONFIG_E_USER: 'demo',
        RCLONE_CONFIG_E_PASS: stdout.trim(),
      };
    },
    steps: ({ file, copy }) => [
      ['copyto', file, `e:${NAME}`],
      ['lsf', 'e:'],
      ['copyto', `e:${NAME}`, copy],
      ['deletefile', `e:${NAME}`],
    ],
  },
];

const ROWS = CLIENTS.map((client) => {
  const isInstalled = spawnSync(client.program, ['--version']).status === 0;
  return { ...client, reason: isInstalled ? '' : ` (skipped: ${client.program} is not installed)` };
});

for (const { title, reason, program, env, steps } of ROWS) {
  it.skipIf(reason !== '')(`${title} uploads, lists, downloads and deletes${reason}`, async () => {
    const uploads = temporaryDirectory();
    const folder = path.join(uploads, 'demo');
    mkdirSync(folder);
    const { baseUrl } = await serve({ uploads, images: 0 });
    const work = temporaryDirectory();
    const place = { baseUrl, file: path.join(work, 'file'), copy: path.join(work, 'copy') };
    const bytes = bytesOf(SIZE, title);
    writeFileSync(place.file, bytes);
    const own = { PATH: process.env.PATH, HOME: work, ...env?.(baseUrl) };
    const run = (args: readonly string[]) => promisify(execFile)(program, args, { env: own });
    const [upload = [], list = [], download = [], remove = []] = steps(place);
    await run(upload);
    expect(readFileSync(path.join(folder, NAME)).equals(bytes)).toBe(true);
    expect((await run(list)).stdout).toContain(NAME);
    await run(download);
    expect(readFileSync(place.copy).equals(bytes)).toBe(true);
    await run(remove);
    expect(existsSync(path.join(folder, NAME))).toBe(false);
  });
}
