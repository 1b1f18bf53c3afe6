/** What the legacy API uses of the context that its operations run with. The resolvers know more of it. */
export interface OperationContext {
  /** From now on each run of the operation returns the next rows of its list. @param most rows of all runs; undefined = all */
  walk(most: number | undefined): { readonly ended: boolean };
  /** Asks for another part of the event loop's time, before work that may take long. @returns undefined = go on at once */
  turn(): Promise<void> | undefined;
  /** Waits until the caller may begin another long operation. @returns ends it @throws {AditError} TOO_MANY_OPERATIONS */
  takeSlot(): Promise<() => void>;
}
