// Units of capacity and memory, in the programmatic form of the standard (`byte * 2^20`) and as words.

const POWERS = ['', 'k', 'm', 'g', 't', 'p'];
const NAMES = ['', 'kilo', 'mega', 'giga', 'tera', 'peta'];

/** How many bytes one unit is, or null where the unit is unknown. Without a unit: a byte. */
export function bytesPerUnit(unit: string | null): number | null {
  const text = (unit ?? '').trim().toLowerCase();
  if (text === '') return 1;
  const word = /^([kmgtp]?)i?b$|^(|kilo|mega|giga|tera|peta)bytes?$/.exec(text);
  if (word !== null) {
    const power = word[1] === undefined ? NAMES.indexOf(word[2] ?? '') : POWERS.indexOf(word[1]);
    return 1024 ** power;
  }
  const [base, ...factors] = text.split('*').map((part) => part.trim());
  if (base !== 'byte' && base !== 'bytes') return null;
  let bytes = 1;
  for (const factor of factors) {
    const parts = /^(\d{1,16})(?:\s*\^\s*(\d{1,2}))?$/.exec(factor);
    if (parts === null) return null;
    bytes *= Number(parts[1]) ** Number(parts[2] ?? 1);
  }
  return Number.isSafeInteger(bytes) ? bytes : null;
}
