// Real storages, each started for the running test if it is installed: web servers, rclone, S3 servers, a small tmpfs.

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { onTestFinished } from 'vitest';
import { selfSigned } from '../support/certificate.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { missing } from '../support/requirements.ts';
import { freePort } from '../support/sockets.ts';
import { account, configDirectory } from '../support/users.ts';
import { mountTmpfs, NO_TMPFS } from './disks.ts';

interface UploadServer {
  /** Settings of a profile. */
  readonly settings: Readonly<Record<string, string>>;
  /** Of an S3 storage ['demo']. */
  readonly secret?: string;
  /** Returns the names of all files, hidden and incomplete ones too. */
  files(): Promise<string[]>;
  read(name: string): Promise<Buffer>;
  remove(name: string): Promise<unknown>;
}

export interface ServerKind {
  readonly name: string;
  /** It has objects, and no folder that the service could read. */
  readonly isS3?: boolean;
  /** It bears one push at a time: s3rver fails with 500 while another request writes, and mixes their objects. */
  readonly isFragile?: boolean;
  /** Why it cannot be started, or empty. */
  readonly reason: string;
  /** @param folder where its files are, unless it keeps them elsewhere */
  start(folder: string): Promise<UploadServer>;
}

const isRoot = process.getuid?.() === 0;

const LIGHTTPD_DAV = '/usr/lib/lighttpd/mod_webdav.so';
const NGINX_DAV = '/usr/lib/nginx/modules/ngx_http_dav_ext_module.so';

/** Starts a program with a folder of its own, and waits until it answers at its address, which it returns. */
export async function startProgram(
  command: string,
  argsOf: (host: string, own: string) => string[],
  env = process.env,
) {
  const host = `127.0.0.1:${await freePort()}`;
  const own = temporaryDirectory();
  chmodSync(own, 0o777);
  const child = spawn(command, argsOf(host, own), { stdio: 'ignore', env });
  onTestFinished(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve));
  });
  while (child.exitCode === null) {
    if (await fetch(`http://${host}`).catch(() => undefined)) return `http://${host}`;
    await wait(50);
  }
  throw new Error(`${command} ended`);
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

/** @param direct where files are removed, if not at `url` */
export function inFolder(url: string, folder: string, direct = url): UploadServer {
  return {
    settings: { 'upload-url': url },
    // Apache and SabreDAV keep properties in files of their own.
    files: async () => readdirSync(folder).filter((name) => !['.DAV', '.sabredav'].includes(name)),
    read: async (name) => readFileSync(path.join(folder, name)),
    remove: async (name) => {
      // rclone remembers for minutes what is in the folder.
      if (direct.startsWith('dav+'))
        await fetch(`${direct.slice(4)}${name}`, {
          method: 'DELETE',
          headers: { connection: 'close' },
        });
      else rmSync(path.join(folder, name));
    },
  };
}

const startApache = (folder: string) =>
  startWebDav(folder, 'apache2', ['-DFOREGROUND', '-f'], (host, own) => {
    const modules = ['mpm_event', 'authz_core', 'dav', 'dav_fs'].map((name) => {
      return `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`;
    });
    return `${modules.join('')}${isRoot ? 'User www-data\nGroup www-data' : ''}
ServerName localhost\nListen ${host}\nPidFile ${own}/pid\nErrorLog ${own}/error.log\nDavLockDB ${own}/locks
DocumentRoot ${folder}\n<Directory ${folder}>\nDav On\nRequire all granted\n</Directory>\n`;
  });

/** Apache, which knows nothing of the TLS that nginx speaks with its users. */
async function startBehindTls(folder: string): Promise<UploadServer> {
  const apache = await startApache(folder);
  const { 'upload-url': direct = '' } = apache.settings;
  const identity = selfSigned('127.0.0.1');
  const certificate = path.join(temporaryDirectory(), 'ca.pem');
  writeFileSync(certificate, identity.cert);
  const listening = await startProgram('nginx', (address, own) => {
    writeFileSync(path.join(own, 'key.pem'), identity.key);
    // nginx answers plain http at that port with 400, so that its start can be seen.
    const text = `${isRoot ? 'user root;' : ''} pid ${own}/pid; error_log ${own}/error.log; daemon off; events {}
http { access_log off; client_body_temp_path ${own}/body; proxy_temp_path ${own}/proxy;
server { listen ${address} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${own}/key.pem; client_max_body_size 0;
location / { proxy_pass ${direct.slice('dav+'.length)}; proxy_set_header Host $http_host; proxy_request_buffering off; } } }`;
    writeFileSync(path.join(own, 'config'), text);
    return ['-c', path.join(own, 'config')];
  });
  const url = `dav+${listening.replace('http:', 'https:')}/`;
  const server = inFolder(url, folder, direct);
  return { ...server, settings: { ...server.settings, 'upload-ca-file': certificate } };
}

const SABRE = '/usr/share/php/Sabre/autoload.php';

/** SabreDAV, which Nextcloud and ownCloud build on, with their rule for names and their error. */
const NEXTCLOUD = `<?php
require_once '${SABRE}';
error_reporting(0);
class InvalidPath extends Sabre\\DAV\\Exception {
  function getHTTPCode() { return 400; }
  function serialize(Sabre\\DAV\\Server $server, DOMElement $node) {
    foreach (['retry' => 'false', 'reason' => $this->getMessage()] as $name => $text)
      $node->appendChild($node->ownerDocument->createElementNS('o:', "o:$name", $text));
  }
}
class Names extends Sabre\\DAV\\ServerPlugin {
  function initialize(Sabre\\DAV\\Server $server) { $server->subscribeEvent('beforeBind', [$this, 'check']); }
  function check($uri) {
    if (preg_match('/(\\.(part|filepart)|(^|\\/)\\.htaccess)$/i', $uri, $found))
      throw new InvalidPath("\\"$found[1]\\" is a forbidden file type.");
  }
}
$server = new Sabre\\DAV\\Server(new Sabre\\DAV\\FSExt\\Directory(getenv('DAV_FOLDER')));
$server->setBaseUri('/');
$server->addPlugin(new Names());
$server->exec();
`;

/** An S3 storage with a bucket named bucket. */
const s3Server = (baseUrl: string, accessKey: string, namesOf: () => Promise<string[]>) => ({
  settings: { 'upload-url': `s3+${baseUrl}/bucket`, 'upload-access-key': accessKey },
  files: namesOf,
  read: async (name: string) =>
    Buffer.from(await (await fetch(`${baseUrl}/bucket/${name}`)).arrayBuffer()),
  remove: (name: string) => fetch(`${baseUrl}/bucket/${name}`, { method: 'DELETE' }),
});

const keysOf = async (url: string) =>
  [...(await (await fetch(url)).text()).matchAll(/<Key>([^<]+)<\/Key>/g)].map(
    ([, name = '']) => name,
  );

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
    start: startApache,
  },
  {
    name: 'Apache behind nginx with TLS',
    reason: missing('apache2', 'nginx'),
    start: startBehindTls,
  },
  {
    name: 'lighttpd with mod_webdav',
    reason: missing('lighttpd') || (existsSync(LIGHTTPD_DAV) ? '' : 'lighttpd has no mod_webdav'),
    start: (folder) =>
      startWebDav(folder, 'lighttpd', ['-D', '-f'], (host, own) => {
        const [address, port] = host.split(':');
        return `server.modules = ("mod_webdav")\nserver.bind = "${address}"\nserver.port = ${port}
server.document-root = "${folder}"\nserver.upload-dirs = ("${own}")\nserver.errorlog = "${own}/error.log"
webdav.activate = "enable"\nwebdav.is-readonly = "disable"\n`;
      }),
  },
  {
    name: "SabreDAV with Nextcloud's names",
    reason: missing('php') || (existsSync(SABRE) ? '' : 'php-sabre-dav is not installed'),
    async start(folder) {
      const env = { ...process.env, DAV_FOLDER: folder };
      const baseUrl = await startProgram(
        'php',
        (host, own) => {
          writeFileSync(path.join(own, 'server.php'), NEXTCLOUD);
          return ['-d', 'enable_post_data_reading=Off', '-S', host, path.join(own, 'server.php')];
        },
        env,
      );
      return inFolder(`dav+${baseUrl}/`, folder);
    },
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
    isS3: true,
    reason: missing('moto_server'),
    async start() {
      const args = (host: string) => ['-p', host.replace(/.*:/, '')];
      const baseUrl = await startProgram('moto_server', args);
      await fetch(`${baseUrl}/bucket`, { method: 'PUT' });
      const uploads = async () =>
        (await keysOf(`${baseUrl}/bucket?uploads`)).map((name) => `${name} (not complete)`);
      return s3Server(baseUrl, 'demo', async () => [
        ...(await keysOf(`${baseUrl}/bucket`)),
        ...(await uploads()),
      ]);
    },
  },
  {
    name: 's3rver (S3)',
    isS3: true,
    isFragile: true,
    reason: missing('s3rver'),
    async start() {
      const baseUrl = await startProgram('s3rver', (host, own) => {
        const [address = '', port = ''] = host.split(':');
        const options = ['--silent', '--no-vhost-buckets', '--configure-bucket', 'bucket'];
        return ['-d', own, '-a', address, '-p', port, ...options];
      });
      // It neither lists nor removes unfinished uploads.
      const server = s3Server(baseUrl, 'S3RVER', () => keysOf(`${baseUrl}/bucket`));
      return { ...server, secret: 'S3RVER' };
    },
  },
  {
    name: 'a folder on tmpfs',
    reason: NO_TMPFS,
    start: async (folder) => inFolder(`${pathToFileURL(mountTmpfs('1800m', folder))}`, folder),
  },
];

/** Races per storage and content; `npm run test:push` sets more. */
export const RACES = Number(process.env.PUSH_RACES || 1);
/** Bytes. */
export const RACE_SIZE = 6 * 2 ** 20;
/**
 * What the slower push of a race says. moto fails with 500 if an upload was removed, where S3 says NoSuchUpload, and computes the
 * ETag of a part without a lock, so it is wrong if another push completes the upload at that moment.
 */
export const TOLD =
  /already has a different race|another push removed|it was not removed|another file replaced|failed: PUT .*\(500|part 1 has the wrong ETag/;
export const RACED_SERVERS = SERVERS.filter(({ isFragile }) => !isFragile);

/** A storage below a folder, and users of it. */
export async function setUp(start: ServerKind['start']) {
  const uploads = temporaryDirectory();
  const folder = path.join(uploads, 'demo');
  mkdirSync(folder);
  const server = await start(folder);
  const { baseUrl } = await serve({ uploads, syncDelay: 20, tokenLimit: 1000 });
  const user = () => {
    const IMGCTL_CONFIG_DIR = configDirectory(server.settings);
    return {
      ...{ ...account(baseUrl), IMGCTL_CONFIG_DIR },
      IMGCTL_UPLOAD_SECRET: server.secret ?? 'demo',
    };
  };
  return { server, folder, user };
}

export const digestOf = (bytes: Buffer | string) =>
  createHash('sha256').update(bytes).digest('hex');
