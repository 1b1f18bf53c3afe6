import { type PullSocket, SocketGoneError } from '../../wire/pull-socket.ts';
import { splice } from '../../wire/splice.ts';
import {
  formatLoginResult, formatMethod, formatReply, Method, parseGreeting, parseLogin, parseRequest, Reply, SocksError, type SocksRequest,
} from '../socks/messages.ts';
import { type ProxyProblem, proxyProblems } from './proxy-answers.ts';
import type { ProxyVisitor } from './proxy-visitors.ts';
import type { TunnelContext } from './tunnel-mode.ts';

/** Serves one visitor of a SOCKS5 proxy. */
export class Socks5Visitor {
  readonly #visitor: ProxyVisitor;
  readonly #socket: PullSocket;
  readonly #context: TunnelContext;
  /** How a malformed message is answered at this point. */
  #refuse: (reply: number) => Buffer = () => formatMethod(Method.UNACCEPTABLE);

  constructor(visitor: ProxyVisitor, context: TunnelContext) {
    this.#visitor = visitor;
    this.#socket = visitor.socket;
    this.#context = context;
  }

  /** Resolves when he is connected, or gone. Never rejects. */
  async serve(): Promise<void> {
    this.#socket.deadline(this.#context.timing.headMs);
    try {
      const answer = await this.#converse();
      if (answer) this.#socket.closeSoon(answer);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#visitor.leave();
    }
  }

  #fail(error: unknown): void {
    if (error instanceof SocksError) {
      this.#context.refused('malformed');
      this.#socket.closeSoon(this.#refuse(error.reply));
    } else {
      this.#socket.closeSoon();
      if (!(error instanceof SocketGoneError)) throw error;
    }
  }

  /** @returns what he is told when he gets no connection */
  async #converse(): Promise<Buffer | undefined> {
    const refusal = await this.#logIn();
    if (refusal) return refusal;
    this.#refuse = formatReply;
    const request = await this.#read(parseRequest);
    this.#socket.deadline(undefined);
    return this.#connect(request);
  }

  async #logIn(): Promise<Buffer | undefined> {
    const asked = this.#context.asksForLogin();
    const { methods } = await this.#read(parseGreeting);
    const method = asked ? Method.PASSWORD : Method.NONE;
    if (!methods.includes(method)) {
      this.#context.refused('login');
      return formatMethod(Method.UNACCEPTABLE);
    }
    await this.#socket.write(formatMethod(method));
    if (!asked) return undefined;
    this.#refuse = () => formatLoginResult(false);
    const given = await this.#read(parseLogin);
    if (!this.#context.acceptsLogin(given, this.#visitor.address)) {
      this.#context.refused('login');
      return formatLoginResult(false);
    }
    await this.#socket.write(formatLoginResult(true));
    return undefined;
  }

  async #connect({ command, target }: SocksRequest): Promise<Buffer | undefined> {
    if (command !== 'connect') return formatReply(Reply.UNKNOWN_COMMAND);
    const dialled = this.#visitor.dial(target);
    if (!dialled) return replyTo('not-served');
    const { socket, result } = dialled;
    this.#socket.onGone = () => socket.destroy();
    const outcome = await result;
    if (outcome !== 'connected') return replyTo(outcome);
    await this.#socket.write(formatReply(Reply.OK));
    splice(this.#socket.release(), socket.release());
    return undefined;
  }

  /** @throws {SocksError} */
  async #read<T extends { readonly length: number }>(parse: (bytes: Buffer) => T | undefined): Promise<T> {
    const message = await this.#socket.parse(parse);
    if (!message) throw new SocketGoneError('the visitor ended before he had said everything');
    return message;
  }
}

function replyTo(problem: ProxyProblem): Buffer {
  return formatReply(proxyProblems[problem].socks);
}
