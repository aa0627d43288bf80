// Compares `imgctl validate` of a 2 GiB OVA with `openssl dgst -sha256` of the same file, in turn.
// Usage: node bench/validate.mjs   (needs a build, Linux, openssl, tar and 5 GB in the temporary folder)

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare, makePackage, nodeProgram } from './measure.mjs';

const RUNS = 7;
const program = fileURLToPath(import.meta.resolve('../bin/imgctl.js'));
const folder = mkdtempSync(join(tmpdir(), 'imgctl-bench-'));

try {
  makePackage(folder, 2048);
  const members = ['bench.ovf', 'bench.mf', 'bench.iso'];
  const file = join(folder, 'bench.ova');
  spawnSync('tar', ['--format=ustar', '-cf', file, '-C', folder, ...members]);
  rmSync(join(folder, 'bench.iso'));
  const { openssl, imgctl } = await compare(
    {
      openssl: { command: ['openssl', 'dgst', '-sha256', file] },
      imgctl: { command: nodeProgram(program, 'validate', file) },
    },
    RUNS,
  );
  process.stdout.write(`openssl dgst -sha256  ${openssl.wall.toFixed(3)} s, median of ${RUNS}
imgctl validate       ${imgctl.wall.toFixed(3)} s, median of ${RUNS}
ratio                 ${(imgctl.wall / openssl.wall).toFixed(2)}
peak memory           ${imgctl.peak.toFixed(0)} MiB
`);
} finally {
  rmSync(folder, { recursive: true });
}
