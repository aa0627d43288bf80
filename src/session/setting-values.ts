// The names that other parts still import from here.

export { certificateFlaw, MAX_AGE, parseDuration, type UploadTarget } from './setting-table.ts';
