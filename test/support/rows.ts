// Rows of a table in which several inputs share an expectation.

/** Returns `[input, expected]` for each input. */
export function rows<const Expected, const Input>(expected: Expected, ...inputs: Input[]) {
  return inputs.map((input) => [input, expected] as const);
}
