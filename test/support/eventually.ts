/** Waits until `condition` holds: for what has no event to wait for. Fails after `ms` with what was seen last. */
export async function eventually<T>(read: () => T, condition: (value: T) => boolean, ms = 100_000): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    const value = read();
    if (condition(value)) return value;
    if (performance.now() > until) throw new Error(`after ${ms} ms still ${JSON.stringify(value)}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
}

/** As `eventually`, for what has to be asked for: an API, say. */
export async function eventuallyAsync<T>(read: () => Promise<T>, condition: (value: T) => boolean, ms = 100_000): Promise<T> {
  const until = performance.now() + ms;
  for (;;) {
    const value = await read();
    if (condition(value)) return value;
    if (performance.now() > until) throw new Error(`after ${ms} ms still ${JSON.stringify(value)}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}
