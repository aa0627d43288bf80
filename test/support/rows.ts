// Rows of a table in which several inputs share an expectation.

/** Returns `[input, expected]` for each input. */
export function rows<const Expected, const Inputs extends readonly unknown[]>(
  expected: Expected,
  ...inputs: Inputs
) {
  return inputs.map((input): readonly [Inputs[number], Expected] => [input, expected]);
}
