/** The earlier of a client's own expiry and its owner's; null = never (contract 1.1, EffectiveExpireTime). */
export function effectiveExpiry(own: Date | null, owners: Date | null | undefined): Date | null {
  if (own === null) return owners ?? null;
  if (owners === null || owners === undefined) return own;
  return own < owners ? own : owners;
}

/** Whether a client's own expiry is later than its owner's (contract 2.2). A client without an expiry uses its owner's. */
export function expiresAfterOwner(own: Date | null, owners: Date | null): boolean {
  return own !== null && owners !== null && own > owners;
}

/** Whether an expiry has passed (contract D13). null = never. @param now ms since the epoch */
export function isPast(expiry: Date | null, now: number): boolean {
  return expiry !== null && expiry.getTime() <= now;
}
