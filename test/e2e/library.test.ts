// The examples of docs/library.md, type-checked and run with the built package.

import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { expect, it } from 'vitest';
import { codeBlocks, ROOT, readPage } from '../support/documents.ts';
import { serve } from '../support/emulator.ts';
import { temporaryDirectory } from '../support/io.ts';
import { writeSampleOva } from '../support/package-writer.ts';

const EXAMPLES = codeBlocks(readPage('docs/library.md'), 'ts');

/** A mistake in the types, which the compiler must find. */
const WRONG = EXAMPLES[0]?.replace("text: 'ubuntu'", 'text: 1') ?? '';

const execute = promisify(execFile);

/** Creates a project with the package, and a service with one upload. */
async function projectWithImgctl() {
  const folder = temporaryDirectory();
  mkdirSync(path.join(folder, 'node_modules'));
  // On Windows, everyone may make a junction.
  const link = (target: string, name: string) =>
    symlinkSync(target, path.join(folder, 'node_modules', name), 'junction');
  link(ROOT, 'imgctl');
  link(path.join(ROOT, 'node_modules/@types'), '@types');
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  const uploads = temporaryDirectory();
  mkdirSync(path.join(uploads, 'alice'));
  await writeSampleOva(path.join(uploads, 'alice/sample.ova'));
  const users = [{ name: 'alice', password: 'secret' }];
  const { baseUrl } = await serve({ users, uploads, syncDelay: 0 });
  const write = (name: string, text: string) => {
    const changed = text.replace('https://images.example.com', baseUrl);
    writeFileSync(path.join(folder, name), changed.replace('sleep(5_000)', 'sleep(50)'));
  };
  const env = { IMAGES_PASSWORD: 'secret', IMGCTL_PASSWORD: 'secret' };
  const run = async (...argv: string[]) =>
    (await execute(process.execPath, argv, { cwd: folder, env })).stdout;
  return { folder, write, run };
}

it('the examples of docs/library.md pass the type checks, which find a mistake, and run', async () => {
  const { folder, write, run } = await projectWithImgctl();
  const files = [...EXAMPLES, WRONG].map((text, index) => {
    write(`example-${index}.ts`, text);
    return `example-${index}.ts`;
  });
  const compilerOptions = {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', target: 'es2022', types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false },
    ...{ rootDir: '.', outDir: 'built' },
  };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
  const compiler = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const compiled = execute(process.execPath, [compiler, '-p', folder, '--pretty', 'false']);
  const message = `^\\S*example-${EXAMPLES.length}\\.ts\\S* error TS\\d+: Type 'number' is not assignable to type[^\\n]*\\n$`;
  await expect(compiled).rejects.toMatchObject({
    stdout: expect.stringMatching(new RegExp(message)),
  });
  const [list, sync] = await Promise.all([run('built/example-0.js'), run('built/example-1.js')]);
  expect(list).toMatch(/^(\d+ \S*ubuntu\S*\n){5}$/);
  expect(sync).toMatch(/^succeeded\n\[\S+\] sample\.ova\n$/);
});

it.each(['esm', 'cjs'] as const)(
  'a bundle of the package (%s) runs in a folder without it',
  async (format) => {
    const { folder, write } = await projectWithImgctl();
    // CommonJS cannot await at the top.
    const text = EXAMPLES[0]?.replace(/^\nconst.*/ms, (body) => `(async () => {${body}})();`);
    write('list.ts', text ?? '');
    const file = path.join(temporaryDirectory(), format === 'esm' ? 'list.mjs' : 'list.cjs');
    await build({ cwd: folder, input: 'list.ts', platform: 'node', output: { file, format } });
    const { stdout } = await execute(process.execPath, [file], {
      env: { IMAGES_PASSWORD: 'secret' },
    });
    expect(stdout).toMatch(/^(\d+ \S*ubuntu\S*\n){5}$/);
  },
);

it('the package can be required with its package.json', async () => {
  const script = `const { createClient, ImgctlError } = require('imgctl');
    try { createClient({ baseUrl: 'images', token: 'T' }); }
    catch (error) { console.log(error instanceof ImgctlError, error.code, require('imgctl/package.json').name); }`;
  expect(await (await projectWithImgctl()).run('-e', script)).toBe('true config imgctl\n');
});
