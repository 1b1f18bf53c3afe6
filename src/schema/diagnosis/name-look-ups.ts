import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { Pace } from '../../rules/pace.ts';

/** Look-ups of one caller. Each asks two questions of the server's DNS resolver. */
const CALLER = { atOnce: 10, perSecond: 0.2 };
/** Callers remembered; beyond that, the one that has looked nothing up for the longest time is forgotten. */
const CALLERS = 10_000;
/** Look-ups of all callers at a time. */
const TOGETHER = 16;
/** How long the resolver may take for an answer, in ms. */
const ANSWER_MS = 2000;

/** The addresses of a name. `none`: it has none; `unknown`: the resolver did not answer; `limited`: the caller has looked up too many names. */
export type LookUp =
  | { readonly kind: 'found'; readonly addresses: readonly string[] }
  | { readonly kind: 'none' }
  | { readonly kind: 'limited' }
  | { readonly kind: 'unknown'; readonly problem: string };

/** Looks names up in the DNS for diagnoses: with few questions, so that nobody can scan with them. */
export class NameLookUps {
  /** Of the machine's resolvers, without its hosts file, which visitors do not have. */
  readonly resolver = new Resolver({ timeout: ANSWER_MS, tries: 1 });
  readonly #paces = new Map<string, Pace>();
  /** The callers with a look-up under way: one each, so that slow answers of one caller's names do not keep others waiting. */
  readonly #busy = new Set<string>();

  /** @param share of the caller @param now ms since the epoch */
  async addressesOf(share: string, name: string, now: number): Promise<LookUp> {
    if (this.#busy.has(share) || this.#busy.size >= TOGETHER || !this.#paceOf(share).begin(now)) return { kind: 'limited' };
    // Limited as well: which addresses are the server's own could be found by trying.
    if (isIP(name) !== 0) return { kind: 'found', addresses: [name] };
    this.#busy.add(share);
    try {
      return lookUpOf(await Promise.allSettled([this.resolver.resolve4(name), this.resolver.resolve6(name)]));
    } finally {
      this.#busy.delete(share);
    }
  }

  /** The addresses of this machine that other machines can reach. */
  machineAddresses(): string[] {
    return Object.values(networkInterfaces()).flatMap((all) => all ?? []).filter(({ internal }) => !internal).map(({ address }) => address);
  }

  #paceOf(share: string): Pace {
    const pace = this.#paces.get(share) ?? new Pace(CALLER);
    this.#paces.delete(share);
    this.#paces.set(share, pace);
    if (this.#paces.size > CALLERS) this.#paces.delete(this.#paces.keys().next().value ?? '');
    return pace;
  }
}

/** Codes of answers that say that there is no address. */
const noAddress: ReadonlySet<string> = new Set(['ENODATA', 'ENOTFOUND']);

function lookUpOf(answers: readonly PromiseSettledResult<string[]>[]): LookUp {
  const addresses = answers.flatMap((answer) => answer.status === 'fulfilled' ? answer.value : []);
  if (addresses.length > 0) return { kind: 'found', addresses };
  const codes = answers.map((answer) => answer.status === 'rejected' ? codeOf(answer.reason) : '');
  const problem = codes.find((code) => code !== '' && !noAddress.has(code));
  return problem === undefined ? { kind: 'none' } : { kind: 'unknown', problem };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'EUNKNOWN';
}
