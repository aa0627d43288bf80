// curl, rclone and the aws command line upload to the embedded service; each is skipped if it is not installed.

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
/** Several parts of a multipart upload. */
const SIZE = 11 * 2 ** 20;

function curl(title: string, folder: string, list: readonly string[], signing: readonly string[]) {
  const options = ['-sSf', '-u', 'demo:demo', ...signing];
  const steps: Client['steps'] = ({ baseUrl, file, copy }) => {
    const url = `${baseUrl}${folder}`;
    return [
      [...options, '-T', file, `${url}/${NAME}`],
      [...options, ...list, `${url}${list.length > 0 ? '/' : ''}`],
      [...options, '-o', copy, `${url}/${NAME}`],
      [...options, '-X', 'DELETE', `${url}/${NAME}`],
    ];
  };
  return { title, program: 'curl', steps };
}

function rclone(title: string, folder: string, settings: (baseUrl: string) => object): Client {
  return {
    title,
    program: 'rclone',
    env: (baseUrl) =>
      Object.fromEntries(
        Object.entries(settings(baseUrl)).map(([key, value]) => [`RCLONE_CONFIG_E_${key}`, value]),
      ),
    steps: ({ file, copy }) => [
      ['copyto', file, `e:${folder}${NAME}`, '--s3-upload-cutoff', '5M', '--s3-chunk-size', '5M'],
      ['lsf', `e:${folder}`],
      ['copyto', `e:${folder}${NAME}`, copy],
      ['deletefile', `e:${folder}${NAME}`],
    ],
  };
}

const aws: Client = {
  title: 'the aws command line',
  program: 'aws',
  env: (baseUrl) => ({
    AWS_ENDPOINT_URL: baseUrl,
    AWS_ACCESS_KEY_ID: 'demo',
    AWS_SECRET_ACCESS_KEY: 'demo',
    AWS_DEFAULT_REGION: 'us-east-1',
  }),
  steps: ({ file, copy }) => [
    ['s3', 'cp', '--no-progress', file, `s3://s3/${NAME}`],
    ['s3', 'ls', 's3://s3/'],
    ['s3', 'cp', '--no-progress', `s3://s3/${NAME}`, copy],
    ['s3', 'rm', `s3://s3/${NAME}`],
  ],
};

const S3 = {
  TYPE: 's3',
  PROVIDER: 'Other',
  ACCESS_KEY_ID: 'demo',
  SECRET_ACCESS_KEY: 'demo',
  REGION: 'us-east-1',
};
const SIGNING = ['--aws-sigv4', 'aws:amz:us-east-1:s3'];
const UNSIGNED_BODY = ['-H', 'x-amz-content-sha256: UNSIGNED-PAYLOAD'];

const CLIENTS: readonly Client[] = [
  curl('curl over WebDAV', '/upload', ['-X', 'PROPFIND', '-H', 'Depth: 1'], []),
  curl('curl over S3', '/s3', [], [...SIGNING, ...UNSIGNED_BODY]),
  rclone('rclone over WebDAV', '', (baseUrl) => {
    const { stdout: PASS } = spawnSync('rclone', ['obscure', 'demo'], { encoding: 'utf8' });
    return { TYPE: 'webdav', URL: `${baseUrl}/upload`, USER: 'demo', PASS: PASS.trim() };
  }),
  rclone('rclone over S3', 's3/', (baseUrl) => ({ ...S3, ENDPOINT: baseUrl })),
  aws,
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
