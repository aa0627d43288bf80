// The answers of a failed login, which are the defaults of the next one.

import path from 'node:path';
import { readJsonFile, writeJsonFile } from '../files/atomic-file.ts';
import type { Io } from '../io.ts';
import { isObject, type JsonObject } from '../json.ts';

export interface Answers {
  readonly baseUrl?: string | undefined;
  readonly username?: string | undefined;
}

function readProfiles(file: string): JsonObject {
  const result = readJsonFile(file);
  return result.state === 'read' ? result.value : {};
}

function answersFile(directory: string): string {
  return path.join(directory, 'login-answers.json');
}

/** Returns the answers that were stored for the profile. */
export function readAnswers(directory: string | undefined, profile: string): Answers {
  if (directory === undefined) return {};
  const stored = readProfiles(answersFile(directory))[profile];
  if (!isObject(stored)) return {};
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return { baseUrl: text(stored.base_url), username: text(stored.username) };
}

/** Stores the answers; undefined removes them. A disk that cannot be written only costs the defaults. */
export async function storeAnswers(
  directory: string | undefined,
  io: Io,
  profile: string,
  answers: Answers | undefined,
): Promise<void> {
  if (directory === undefined) return;
  const file = answersFile(directory);
  const { [profile]: before, ...others } = readProfiles(file);
  if (answers === undefined && before === undefined) return;
  const entry =
    answers === undefined
      ? {}
      : { [profile]: { base_url: answers.baseUrl, username: answers.username } };
  await writeJsonFile(file, { ...others, ...entry }, io.system).catch(() => {});
}
