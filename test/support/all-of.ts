/** All records of a list that is read page by page while it is used. */
export async function allOf<Each>(pages: AsyncIterable<Iterable<Each>>): Promise<Each[]> {
  const all: Each[] = [];
  for await (const page of pages) all.push(...page);
  return all;
}
