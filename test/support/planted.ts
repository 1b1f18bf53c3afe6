import { randomBytes } from 'node:crypto';

/** Where an owner may read a secret in an answer: the names of the properties that hold it (contract D16). */
const shownAs: Readonly<Record<string, readonly string[]>> = {
  VerifyKey: ['vkey'],
  verifyKey: ['vkey'],
  agentCommand: ['vkey'],
  Password: ['tunnelPassword'],
  password: ['tunnelPassword'],
  headers: ['header'],
  HeaderChange: ['header'],
  token: ['token'],
  api_token: ['token'],
};

/** Something that came out of the program, and where. */
export interface Outcome {
  readonly where: string;
  readonly text: string;
}

/** Secrets that a run gives to a program or gets from it, and the search for them in all that comes out. */
export class Planted {
  readonly #secrets = new Map<string, string>();

  /** Makes up a secret. Letters and digits only, so that no encoding hides it. @param name its kind, and after a space which one */
  make(name: string): string {
    return this.add(name, `planted${randomBytes(12).toString('hex')}`);
  }

  /** A secret that the program or the test's files brought. @throws {Error} when it is too short to be searched for */
  add(name: string, secret: string): string {
    if (secret.length < 16) throw new Error(`${name} is too short to be found by chance only: ${JSON.stringify(secret)}`);
    this.#secrets.set(name, secret);
    return secret;
  }

  /** The names of all. */
  get names(): string[] {
    return [...this.#secrets.keys()];
  }

  /** The secrets that a text holds, by name. */
  in(text: string): string[] {
    return [...this.#secrets].filter(([, secret]) => text.includes(secret)).map(([name]) => name);
  }

  /** As {@link in}, for an answer: what it may show to who owns it is left out. */
  inAnswer(body: string): string[] {
    try {
      return this.in(JSON.stringify(JSON.parse(body, (key, value: unknown) => this.#mayShow(key, value) ? undefined : value)));
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return this.in(body);
    }
  }

  #mayShow(key: string, value: unknown): boolean {
    const kinds = shownAs[key] ?? [];
    const texts = [value].flat().flatMap((one) =>
      typeof one !== 'string' ? '' : key === 'agentCommand' ? one.split(/[\s'=]+/) : one.replace(/^X-Planted: /, '')
    );
    // The family's text for a key that is taken names it, to the caller who has just sent it.
    const named = key === 'msg' || key === 'message' ? /^secret mode keys (\w+) must be unique$/.exec(texts.join(''))?.[1] : undefined;
    return [...this.#secrets].some(([name, secret]) =>
      (kinds.includes(name.split(' ')[0] ?? '') && texts.includes(secret)) || (name === 'tunnelPassword' && named === secret)
    );
  }
}
