/** All records of a list that is read while it is used. */
export async function allOf<Each>(records: Iterable<Each> | AsyncIterable<Each>): Promise<Each[]> {
  const all: Each[] = [];
  for await (const each of records) all.push(each);
  return all;
}
