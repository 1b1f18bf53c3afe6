/** The node that all nodes choose alike for a client: a few clients move when one comes or goes. undefined = there is none to choose from */
export function chosenNode(nodes: Iterable<string>, clientId: number): string | undefined {
  let chosen: string | undefined;
  let highest = -1;
  for (const node of nodes) {
    const number = rank(node, clientId);
    if (number > highest) [chosen, highest] = [node, number];
  }
  return chosen;
}

/** A number that looks random, from the same pair always the same. */
function rank(node: string, clientId: number): number {
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
