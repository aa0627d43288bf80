// JSON from elsewhere: read no deeper than it could be written again.

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** No record of the service has more than a few levels; what writes JSON and YAML goes down by recursion. */
const MOST_LEVELS = 500;

/** undefined where the body is no JSON, or is nested so deep that it could not be written again. */
export function parseJson(body: Buffer): { value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8').replace(/^\ufeff/, ''));
    return isDeeper(value, MOST_LEVELS) ? undefined : { value };
  } catch {
    return undefined;
  }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  // Unlike Object.values this needs no memory, which counts with every image of a long list.
  for (const name in value) {
    if (isDeeper((value as JsonObject)[name], levels - 1)) return true;
  }
  return false;
}
