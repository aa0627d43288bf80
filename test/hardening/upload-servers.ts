// Real storages, each started for the running test if it is installed: nginx, Apache, rclone, moto, a small tmpfs.

import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { unusedPort } from '../support/sockets.ts';
import { mountTmpfs, NO_TMPFS } from './disks.ts';

interface UploadServer {
  /** Settings of a profile. */
  readonly settings: Readonly<Record<string, string>>;
  /** Returns the names of all files, hidden and incomplete ones too. */
  files(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
  remove(name: string): Promise<unknown>;
}

export interface ServerKind {
  readonly name: string;
  /** Why it cannot be started, or empty. */
  readonly reason: string;
  /** @param folder where its files are, unless it keeps them elsewhere */
  start(folder: string): Promise<UploadServer>;
}

const isRoot = process.getuid?.() === 0;
const missing = (program: string) =>
  spawnSync('which', [program]).status === 0 ? '' : `${program} is not installed`;

const NGINX_DAV = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so';
const APACHE_MODULES = '/usr/lib/apache2/modules';

/** Starts a program and waits until its port answers. */
async function startProgram(command: string, args: readonly string[], baseUrl: string) {
  const child = spawn(command, args, { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  });
  for (let tries = 0; tries < 200; tries += 1) {
    const response = await fetch(baseUrl).catch(() => undefined);
    if (response) return;
    await wait(50);
  }
  throw new Error(`${command} does not answer`);
}

export function inFolder(url: string, folder: string): UploadServer {
  return {
    settings: { 'upload-url': url },
    // Apache keeps properties in a folder of its own.
    files: async () => readdirSync(folder).filter((name) => name !== '.DAV'),
    read: async (name) => readFileSync(path.join(folder, name)),
    remove: async (name) => {
      // rclone remembers for minutes what is in the folder.
      if (url.startsWith('dav+')) await fetch(`${url.slice(4)}${name}`, { method: 'DELETE' });
      else rmSync(path.join(folder, name));
    },
  };
}

export const SERVERS: readonly ServerKind[] = [
  {
    name: 'nginx with dav',
    reason: missing('nginx') || (existsSync(NGINX_DAV) ? '' : 'nginx has no dav-ext module'),
    async start(folder) {
      const { baseUrl } = await unusedPort();
      const own = temporaryDirectory();
      for (const each of [own, folder]) chmodSync(each, 0o777);
      const file = path.join(own, 'nginx.conf');
      const user = isRoot ? 'user root;' : '';
      const text = `load_module ${NGINX_DAV}; ${user} pid ${own}/pid; error_log ${own}/error.log; daemon off; events {}
http { access_log off; client_body_temp_path ${own}/body; server { listen ${new URL(baseUrl).host}; client_max_body_size 0;
location / { root ${folder}; dav_methods PUT DELETE MOVE; dav_ext_methods PROPFIND OPTIONS; } } }`;
      writeFileSync(file, text);
      await startProgram('nginx', ['-c', file], baseUrl);
      return inFolder(`dav+${baseUrl}/`, folder);
    },
  },
  {
    name: 'Apache with mod_dav',
    reason: missing('apache2'),
    async start(folder) {
      const { baseUrl } = await unusedPort();
      const own = temporaryDirectory();
      // Its own user has to reach them.
      for (const each of [own, folder, path.dirname(folder)]) chmodSync(each, 0o777);
      const file = path.join(own, 'apache.conf');
      const modules = ['mpm_event', 'authz_core', 'dav', 'dav_fs'].map((name) => {
        return `LoadModule ${name}_module ${APACHE_MODULES}/mod_${name}.so\n`;
      });
      const user = isRoot ? 'User www-data\nGroup www-data' : '';
      const text = `${modules.join('')}${user}
ServerName localhost
Listen ${new URL(baseUrl).host}
PidFile ${own}/pid
ErrorLog ${own}/error.log
DavLockDB ${own}/locks
DocumentRoot ${folder}
<Directory ${folder}>
Dav On
Require all granted
</Directory>
`;
      writeFileSync(file, text);
      await startProgram('apache2', ['-f', file, '-DFOREGROUND'], baseUrl);
      return inFolder(`dav+${baseUrl}/`, folder);
    },
  },
  {
    name: 'rclone serve webdav',
    reason: missing('rclone'),
    async start(folder) {
      const { baseUrl } = await unusedPort();
      const args = ['serve', 'webdav', folder, '--addr', new URL(baseUrl).host];
      await startProgram('rclone', args, baseUrl);
      return inFolder(`dav+${baseUrl}/`, folder);
    },
  },
  {
    name: 'moto (S3)',
    reason: missing('moto_server'),
    async start() {
      const { baseUrl } = await unusedPort();
      await startProgram('moto_server', ['-p', new URL(baseUrl).port], baseUrl);
      await fetch(`${baseUrl}/bucket`, { method: 'PUT' });
      const namesIn = async (query: string) => {
        const text = await (await fetch(`${baseUrl}/bucket${query}`)).text();
        return [...text.matchAll(/<Key>([^<]+)<\/Key>/g)].map(([, name = '']) => name);
      };
      return {
        settings: { 'upload-url': `s3+${baseUrl}/bucket`, 'upload-access-key': 'demo' },
        files: async () => [
          ...(await namesIn('')),
          ...(await namesIn('?uploads')).map((name) => `${name} (not complete)`),
        ],
        read: async (name) =>
          Buffer.from(await (await fetch(`${baseUrl}/bucket/${name}`)).arrayBuffer()),
        remove: (name) => fetch(`${baseUrl}/bucket/${name}`, { method: 'DELETE' }),
      };
    },
  },
  {
    name: 'a folder on tmpfs',
    reason: NO_TMPFS,
    start: async (folder) => inFolder(`${pathToFileURL(mountTmpfs('900m', folder))}`, folder),
  },
];
