/**
 * How many letters must be added, removed, replaced or swapped with their neighbor to turn one text into another. Looks at most `most` letters aside, so that
 * it takes time in proportion to the length.
 * @returns undefined = more than `most`
 */
export function editDistance(one: string, other: string, most: number): number | undefined {
  if (Math.abs(one.length - other.length) > most) return undefined;
  const far = most + 1;
  let [before, last] = [new Map<number, number>(), new Map(Array.from({ length: most + 1 }, (_, at) => [at, at]))];
  for (let row = 1; row <= one.length; row++) {
    const current = new Map<number, number>();
    for (let column = Math.max(0, row - most); column <= Math.min(other.length, row + most); column++) {
      const changed = (last.get(column - 1) ?? far) + (one[row - 1] === other[column - 1] ? 0 : 1);
      const isSwap = one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      current.set(
        column,
        column === 0
          ? row
          : Math.min(changed, (last.get(column) ?? far) + 1, (current.get(column - 1) ?? far) + 1, isSwap ? (before.get(column - 2) ?? far) + 1 : far),
      );
    }
    [before, last] = [last, current];
  }
  const distance = last.get(other.length) ?? far;
  return distance > most ? undefined : distance;
}
