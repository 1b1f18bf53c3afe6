/** The value at which a counter stays: it was the same in ten looks in a row, a few milliseconds apart. */
export async function settled(read: () => number): Promise<number> {
  let value = read();
  for (let same = 0; same < 10;) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    const now = read();
    same = now === value ? same + 1 : 0;
    value = now;
  }
  return value;
}
