/** A number that looks random, from the same pair always the same. */
export function rank(node: string, clientId: number): number {
  let number = clientId;
  for (let at = 0; at < node.length; at++) number = mixed(number ^ node.charCodeAt(at));
  return mixed(number);
}

/** The finalizer of MurmurHash3: each bit of the number changes each bit of the result with a probability of one half. */
function mixed(number: number): number {
  let bits = number;
  bits = Math.imul(bits ^ bits >>> 16, 0x85ebca6b);
  bits = Math.imul(bits ^ bits >>> 13, 0xc2b2ae35);
  return (bits ^ bits >>> 16) >>> 0;
}
