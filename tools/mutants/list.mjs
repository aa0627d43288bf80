// Breakages of src that a test must notice: file, text (found once), replacement, the test file at its own level.

/** Those of .ci/run. */
// biome-ignore format: one line each
export const SHORT = [
  ['src/query/matching.ts', "operator === 'like' ? isLike : (value) => !isLike(value)", "operator === 'like' ? isLike : (value) => value !== null && !isLike(value)", 'test/query/filter.test.ts'],
  ['src/query/name.ts', '(kind === NUMBER ? left.length - right.length : 0) || compareText(left, right)', 'compareText(left, right)', 'test/query/name.test.ts'],
  ['src/query/name.ts', 'if (low.kind !== high.kind) return true;', '', 'test/query/name.test.ts'],
  ['src/query/timestamp.ts', 'CST-6 CDT-5', 'CST-6 CDT-6', 'test/query/timestamp.test.ts'],
  ['src/http/retry.ts', 'if (error.sent && !isIdempotent) throw error;', '', 'test/http/transport.test.ts'],
  ['src/http/retry.ts', 'if (asked > MAX_WAIT) return response;', '', 'test/http/retry.test.ts'],
  ['src/http/url.ts', 'url.origin === baseUrl.origin && ', '', 'test/http/url.test.ts'],
  ['src/session/token-cache.ts', 'const EXPIRY_MARGIN = 60_000;', 'const EXPIRY_MARGIN = 0;', 'test/session/token-cache.test.ts'],
  ['src/catalogue/listing.ts', '+ 10 - 1;', '+ 20 - 1;', 'test/catalogue/listing.test.ts'],
  ['src/files/atomic-file.ts', "{ mode: 0o600, flag: 'wx' }", "{ flag: 'wx' }", 'test/files/atomic-file.test.ts'],
  ['src/files/atomic-file.ts', 'fs.renameSync(staging, file);', 'fs.copyFileSync(staging, file);', 'test/files/atomic-file.test.ts'],
  ['src/output/writers.ts', '=+\\-@\\t\\r\\n\\uff1d\\uff0b\\uff0d\\uff20', '=+\\-@\\t\\r\\n\\uff1d\\uff0b\\uff0d', 'test/output/writers.test.ts'],
  ['src/output/redaction.ts', 'offset of isWord ? [0] : [0, 1, 2]', 'offset of [0]', 'test/output/redaction.test.ts'],
  ['src/upload/s3-responses.ts', "'').toLowerCase()", "'')", 'test/upload/s3-responses.test.ts'],
  ['src/ovf/checks.ts', 'if (digest === expected) return null;', 'return null;', 'test/ovf/manifest.test.ts'],
];

// biome-ignore format: one line each
export const LONG = [
  ['src/query/patterns.ts', 'return position <= end;', 'return true;', 'test/query/filter.test.ts'],
  ['src/query/filter.ts', "(operator === 'like' ? ", "(operator !== '' ? ", 'test/query/filter.test.ts'],
  ['src/query/timestamp.ts', 'return new Date(instant).getUTCDate() === Number(day) ? instant : undefined;', 'return instant;', 'test/query/timestamp.test.ts'],
  ['src/query/name.ts', "el8: 'el\\\\d+',", '', 'test/query/name.test.ts'],
  ['src/http/retry.ts', 'status === 429 || ', '', 'test/http/retry.test.ts'],
  ['src/http/retry.ts', "['GET', 'HEAD', 'OPTIONS']", "['GET', 'HEAD', 'OPTIONS', 'POST']", 'test/http/retry.test.ts'],
  ['src/http/url.ts', "protocol !== 'http:' || isLoopback(hostname)", "protocol !== 'http:' || hostname !== ''", 'test/http/url.test.ts'],
  ['src/api/auth.ts', 'if (response.status === 401) throw refusal(response);', '', 'test/api/auth.test.ts'],
  ['src/api/auth.ts', 'const MAX_TOKEN_LENGTH = 8 * 1024;', 'const MAX_TOKEN_LENGTH = 80 * 1024;', 'test/api/auth.test.ts'],
  ['src/api/responses.ts', 'if (!repeats && visited', 'if (visited', 'test/api/responses.test.ts'],
  ['src/catalogue/listing.ts', 'const most = 2 * ', 'const most = 4 * ', 'test/catalogue/listing.test.ts'],
  ['src/catalogue/listing.ts', 'if (seen.size < total) {', 'if (seen.size < 0) {', 'test/catalogue/listing.test.ts'],
  ['src/files/mutex.ts', 'const STALE_AFTER = 5_000;', 'const STALE_AFTER = 4_000;', 'test/files/mutex.test.ts'],
  ['src/files/atomic-file.ts', 'assertHeld?.();', '', 'test/files/mutex.test.ts'],
  ['src/files/atomic-file.ts', 'if (isOpen) tryOr(', 'if (false) tryOr(', 'test/files/atomic-file.test.ts'],
  ['src/secrets/secrets.ts', 'if (command?.isOption) return command;', '', 'test/secrets/password.test.ts'],
  ['src/output/redaction.ts', 'find(needles, read(text, encoding))', 'find(needles, read(text, PLAIN))', 'test/output/redaction.test.ts'],
  ['src/errors.ts', "'rate-limited': 6", "'rate-limited': 7", 'test/commands/exit-codes.test.ts'],
  ['src/errors.ts', "'not-found': 5", "'not-found': 1", 'test/commands/exit-codes.test.ts'],
  ['src/json.ts', 'const MAX_DEPTH = 50;', 'const MAX_DEPTH = 60;', 'test/json.test.ts'],
  ['src/upload/upload-file.ts', 'const hasFraction = ctimeNs % 1_000_000_000n !== 0n;', 'const hasFraction = true;', 'test/upload/proofs.test.ts'],
  ['src/upload/s3-upload.ts', 'if (tag !== md5 && !upload.isEncrypted && DIGEST.test(tag))', 'if (false)', 'test/upload/storages.test.ts'],
  ['src/upload/folder.ts', 'if (replace) await rename(part.path, target);', 'if (true) await rename(part.path, target);', 'test/upload/parts.test.ts'],
  ['src/upload/proofs.ts', 'version === VERSION && Array', 'Array', 'test/upload/proofs.test.ts'],
  ['src/upload/storage.ts', '{1,16}$/.test(host)', '{1,64}$/.test(host)', 'test/upload/parts.test.ts'],
];
