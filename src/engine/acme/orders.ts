import * as z from 'zod';

const HOUR_MS = 3_600_000;
/** For how long a challenge is answered, in ms: longer than an order takes. */
const CHALLENGE_MS = 6 * 60_000;

/** What all orders have in common, which several servers share. @see AcmeOrders */
export const ordersSchema = z.object({
  begun: z.array(z.object({ at: z.number(), clientId: z.number() })),
  pausedUntil: z.number(),
  challenges: z.array(z.object({ name: z.string(), token: z.string(), answer: z.string(), at: z.number() })),
});

/**
 * What all orders have in common. `begun`: when those of the last hour began, and for which client; `pausedUntil`: the authority's Retry-After, no order begins before;
 * `challenges`: the open ones, which any server may have to answer. Times in ms since the epoch.
 */
export type AcmeOrders = z.output<typeof ordersSchema>;

/** No order has begun. */
export const NO_ORDERS: AcmeOrders = { begun: [], pausedUntil: 0, challenges: [] };

/** Without what is over. A server whose clock is ahead must not delay orders for longer than one whose clock is right. */
export function currentOrders({ begun, pausedUntil, challenges }: AcmeOrders, now: number): AcmeOrders {
  return {
    begun: begun.filter(({ at }) => at > now - HOUR_MS).map(({ at, clientId }) => ({ at: Math.min(at, now), clientId })),
    pausedUntil: Math.min(pausedUntil, now + HOUR_MS),
    challenges: challenges.filter(({ at }) => Math.abs(now - at) < CHALLENGE_MS),
  };
}

/** Whether one more order may begin for a client: it leaves as many of this hour to the others as it has begun, so that new names of one client do not delay all others. */
export function mayBegin({ begun, pausedUntil }: AcmeOrders, clientId: number, now: number, perHour: number): boolean {
  if (now < pausedUntil || begun.length >= perHour) return false;
  const own = begun.filter((order) => order.clientId === clientId).length;
  return own <= perHour - begun.length;
}

/** Without the challenges of a name, whose order has ended. */
export function withoutChallenge(orders: AcmeOrders, name: string): AcmeOrders {
  return { ...orders, challenges: orders.challenges.filter((challenge) => challenge.name !== name) };
}
