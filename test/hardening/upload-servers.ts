// Real storages, each started for the running test if it is installed: nginx, Apache, rclone, moto, a small tmpfs.

import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { temporaryDirectory } from '../support/io.ts';
import { missing } from '../support/requirements.ts';
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

const NGINX_DAV = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so';

/** Starts a program with a folder of its own, and waits until it answers at its address, which it returns. */
export async function startProgram(
  command: string,
  argsOf: (host: string, own: string) => string[],
) {
  const { baseUrl } = await unusedPort();
  const own = temporaryDirectory();
  chmodSync(own, 0o777);
  const child = spawn(command, argsOf(new URL(baseUrl).host, own), { stdio: 'ignore' });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  });
  for (let tries = 0; tries < 200; tries += 1) {
    if (await fetch(baseUrl).catch(() => undefined)) return baseUrl;
    await wait(50);
  }
  throw new Error(`${command} does not answer`);
}

/** Starts a program with this configuration, which serves a folder. */
async function startWebDav(
  folder: string,
  command: string,
  args: readonly string[],
  configOf: (host: string, own: string) => string,
) {
  // Its own user has to reach them.
  for (const each of [folder, path.dirname(folder)]) chmodSync(each, 0o777);
  const baseUrl = await startProgram(command, (host, own) => {
    writeFileSync(path.join(own, 'config'), configOf(host, own));
    return [...args, path.join(own, 'config')];
  });
  return inFolder(`dav+${baseUrl}/`, folder);
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
    start: (folder) =>
      startWebDav(folder, 'nginx', ['-c'], (host, own) => {
        const user = isRoot ? 'user root;' : '';
        return `load_module ${NGINX_DAV}; ${user} pid ${own}/pid; error_log ${own}/error.log; daemon off; events {}
http { access_log off; client_body_temp_path ${own}/body; server { listen ${host}; client_max_body_size 0;
location / { root ${folder}; dav_methods PUT DELETE MOVE; dav_ext_methods PROPFIND OPTIONS; } } }`;
      }),
  },
  {
    name: 'Apache with mod_dav',
    reason: missing('apache2'),
    start: (folder) =>
      startWebDav(folder, 'apache2', ['-DFOREGROUND', '-f'], (host, own) => {
        const modules = ['mpm_event', 'authz_core', 'dav', 'dav_fs'].map((name) => {
          return `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`;
        });
        return `${modules.join('')}${isRoot ? 'User www-data\nGroup www-data' : ''}
ServerName localhost\nListen ${host}\nPidFile ${own}/pid\nErrorLog ${own}/error.log\nDavLockDB ${own}/locks
DocumentRoot ${folder}\n<Directory ${folder}>\nDav On\nRequire all granted\n</Directory>\n`;
      }),
  },
  {
    name: 'rclone serve webdav',
    reason: missing('rclone'),
    async start(folder) {
      const args = (host: string) => ['serve', 'webdav', folder, '--addr', host];
      return inFolder(`dav+${await startProgram('rclone', args)}/`, folder);
    },
  },
  {
    name: 'moto (S3)',
    reason: missing('moto_server'),
    async start() {
      const args = (host: string) => ['-p', host.replace(/.*:/, '')];
      const baseUrl = await startProgram('moto_server', args);
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
    start: async (folder) => inFolder(`${pathToFileURL(mountTmpfs('1800m', folder))}`, folder),
  },
];
