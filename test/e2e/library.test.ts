// The examples of docs/library.md and README.md, type-checked and run with the built package.

import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(ROOT, 'docs/library.md'), 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');

const NODENEXT = { module: 'nodenext', moduleResolution: 'nodenext' };
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };

const execute = promisify(execFile);

/** Creates a project with the package and the examples. */
function project(baseUrl = 'https://images.example.com'): string {
  const folder = temporaryDirectory();
  mkdirSync(path.join(folder, 'node_modules'));
  symlinkSync(ROOT, path.join(folder, 'node_modules/imgctl'));
  symlinkSync(path.join(ROOT, 'node_modules/@types'), path.join(folder, 'node_modules/@types'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  for (const [index, example] of EXAMPLES.entries()) {
    const text = example
      .replace('https://images.example.com', baseUrl)
      .replace('sleep(5_000)', 'sleep(50)');
    writeFileSync(path.join(folder, `example-${index}.ts`), text);
  }
  return folder;
}

/** Type-checks the examples with everything they import, and compiles them. */
async function compile(folder: string, options: Readonly<Record<string, string>>): Promise<void> {
  const compilerOptions = {
    ...options,
    target: 'es2022',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    rootDir: '.',
    outDir: 'built',
  };
  const files = EXAMPLES.map((_, index) => `example-${index}.ts`);
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = path.join(ROOT, 'node_modules/.bin/tsc');
  await execute(compiler, ['-p', folder]).catch(({ stdout }) => {
    throw new Error(`tsc: ${stdout}`);
  });
}

async function service() {
  const uploads = temporaryDirectory();
  mkdirSync(path.join(uploads, 'alice'));
  await writeSampleOva(path.join(uploads, 'alice/sample.ova'));
  const users = [{ name: 'alice', password: 'secret' }];
  return serve({ users, uploads, syncDelay: 0 });
}

it('the examples of docs/library.md run', async () => {
  const folder = project((await service()).baseUrl);
  await compile(folder, NODENEXT);
  const env = { IMAGES_PASSWORD: 'secret' };
  const run = async (index: number) =>
    (await execute(process.execPath, [`built/example-${index}.js`], { cwd: folder, env })).stdout;
  const [list, sync] = await Promise.all([run(0), run(1)]);
  expect(list).toMatch(/^(\d+ \S*ubuntu\S*\n){5}$/);
  expect(sync).toMatch(/^succeeded\n\[\S+\] sample\.ova\n$/);
});

it('the example of README.md runs', async () => {
  const { baseUrl } = await service();
  const folder = project(baseUrl);
  const page = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
  const [, example = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
  const script = example.replace('https://images.example.com', baseUrl);
  writeFileSync(path.join(folder, 'example.mjs'), script);
  const env = { IMGCTL_PASSWORD: 'secret' };
  const { stdout } = await execute(process.execPath, ['example.mjs'], { cwd: folder, env });
  expect(stdout).toMatch(/^(\S*ubuntu\S*\n){5}$/);
});

it('the types of the library find a mistake with a bundler', async () => {
  const folder = project();
  const wrong = EXAMPLES[0]?.replace("text: 'ubuntu'", 'text: 1') ?? '';
  writeFileSync(path.join(folder, 'example-0.ts'), wrong);
  await expect(compile(folder, BUNDLER)).rejects.toThrow(
    /^tsc: \S*example-0\.ts\S* error TS\d+: Type 'number' is not assignable to type[^\n]*\n$/,
  );
});

it('the package can be required with its package.json', async () => {
  const script = `const { createClient, ImgctlError } = require('imgctl');
    try { createClient({ baseUrl: 'images', token: 'T' }); }
    catch (error) { console.log(error instanceof ImgctlError, error.code, require('imgctl/package.json').name); }`;
  const { stdout } = await execute(process.execPath, ['-e', script], { cwd: project() });
  expect(stdout).toBe('true config imgctl\n');
});
