// Parses JSON from outside, nested no deeper than our writers can handle.

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Records of the service have a few levels; the writers of JSON and YAML recurse. */
const MAX_DEPTH = 500;

/** Returns undefined if the body is not JSON or nested too deep. */
export function parseJson(body: Buffer): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
    return isDeeper(value, MAX_DEPTH) ? undefined : { value };
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Unlike Object.values, for-in allocates nothing, which matters for long lists.
  for (const name in value) {
    if (isDeeper((value as JsonObject)[name], levels - 1)) return true;
  }
  return false;
}
