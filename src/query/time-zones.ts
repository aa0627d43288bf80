// Time-zone abbreviations and numeric offsets, as minutes east of Greenwich.

/**
 * Only abbreviations that have had one offset wherever they were used since 2000, in the tz database and
 * in everyday use. So no CST (America, China, Cuba), IST (India, Ireland, Israel), BST (Britain,
 * Bangladesh), PST (America, Philippines), MST (America, Malaysia), AST (Canada, Arabia), CDT (America,
 * Cuba), MSK (moved in 2011 and 2014), KST (North Korea) and the like: a guess could be hours wrong.
 */
const MINUTES_EAST: ReadonlyMap<string, number> = new Map([
  ['UTC', 0],
  ['GMT', 0],
  ['Z', 0],
  ['WET', 0],
  ['WEST', 60],
  ['CET', 60],
  ['CEST', 120],
  ['EET', 120],
  ['EEST', 180],
  ['WAT', 60],
  ['CAT', 120],
  ['SAST', 120],
  ['EAT', 180],
  ['PKT', 300],
  ['WIB', 420],
  ['WITA', 480],
  ['HKT', 480],
  ['AWST', 480],
  ['WIT', 540],
  ['JST', 540],
  ['ACST', 570],
  ['AEST', 600],
  ['ACDT', 630],
  ['AEDT', 660],
  ['NZST', 720],
  ['NZDT', 780],
  ['HST', -600],
  ['AKST', -540],
  ['AKDT', -480],
  ['PDT', -420],
  ['MDT', -360],
  ['EST', -300],
  ['EDT', -240],
]);

const NUMERIC = /^([+-])(\d\d)(?::?(\d\d))?$/;

/**
 * Minutes east of Greenwich of an abbreviation or of `+02`, `+0200`, `+02:00`;
 * undefined where it is unknown, impossible, or has more than one meaning.
 */
export function minutesEast(zone: string): number | undefined {
  const known = MINUTES_EAST.get(zone);
  if (known !== undefined) return known;
  const [, sign, hours = '', minutes = '00'] = NUMERIC.exec(zone) ?? [];
  if (sign === undefined || Number(hours) > 23 || Number(minutes) > 59) return undefined;
  const offset = Number(hours) * 60 + Number(minutes);
  return sign === '-' ? -offset : offset;
}
