import { type PullSocket, SocketGoneError } from '../../wire/pull-socket.ts';
import { splice } from '../../wire/splice.ts';
import { PortUnavailableError } from '../ports/port-book.ts';
import { bindVisitorPort } from '../ports/reserve-port.ts';
import {
  formatLoginResult,
  formatMethod,
  formatReply,
  Method,
  parseGreeting,
  parseLogin,
  parseRequest,
  Reply,
  SocksError,
  type SocksRequest,
} from '../socks/messages.ts';
import { type ProxyProblem, proxyProblems } from './proxy-answers.ts';
import type { UdpAssociation } from '../socks/udp-association.ts';
import type { UdpAssociations } from '../socks/udp-associations.ts';
import type { ProxyVisitor } from './proxy-visitors.ts';
import type { TunnelContext } from './tunnel-context.ts';

/** Serves one visitor of a SOCKS5 proxy. */
export class Socks5Visitor {
  readonly #visitor: ProxyVisitor;
  readonly #socket: PullSocket;
  readonly #context: TunnelContext;
  readonly #associations: UdpAssociations;
  /** How a malformed message is answered at this point. */
  #refuse: (reply: number) => Buffer = () => formatMethod(Method.UNACCEPTABLE);

  constructor(visitor: ProxyVisitor, context: TunnelContext, associations: UdpAssociations) {
    this.#visitor = visitor;
    this.#socket = visitor.socket;
    this.#context = context;
    this.#associations = associations;
  }

  /** Resolves when the visitor is connected to a target, or has disconnected. Never rejects. */
  async serve(): Promise<void> {
    this.#socket.deadline(this.#context.environment.timing.headMs);
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
      this.#context.refused('malformed', this.#visitor.bytes);
      this.#socket.closeSoon(this.#refuse(error.reply));
    } else {
      this.#socket.closeSoon();
      if (!(error instanceof SocketGoneError)) this.#context.environment.log.error({ err: error }, 'a visitor of a proxy could not be served');
    }
  }

  /** @returns the reply when the visitor gets no connection */
  async #converse(): Promise<Buffer | undefined> {
    const refusal = await this.#logIn();
    if (refusal) return refusal;
    this.#refuse = formatReply;
    const request = await this.#read(parseRequest);
    this.#socket.deadline(undefined);
    return request.command === 'connect' ? this.#connect(request) : this.#associate();
  }

  async #logIn(): Promise<Buffer | undefined> {
    const asked = this.#context.asksForLogin();
    const { methods } = await this.#read(parseGreeting);
    const method = asked ? Method.PASSWORD : Method.NONE;
    if (!methods.includes(method)) {
      this.#context.refused('login', this.#visitor.bytes);
      return formatMethod(Method.UNACCEPTABLE);
    }
    await this.#socket.write(formatMethod(method));
    if (!asked) return undefined;
    this.#refuse = () => formatLoginResult(false);
    const given = await this.#read(parseLogin);
    if (!this.#context.acceptsLogin(given, this.#visitor.address)) {
      this.#context.refused('login', this.#visitor.bytes);
      return formatLoginResult(false);
    }
    await this.#socket.write(formatLoginResult(true));
    return undefined;
  }

  async #connect({ target }: SocksRequest): Promise<Buffer | undefined> {
    const dialed = this.#visitor.dial(target);
    if (!dialed) return replyTo('not-served');
    const { socket, result } = dialed;
    this.#socket.onGone = () => socket.destroy();
    const outcome = await result;
    if (outcome !== 'connected') return replyTo(outcome);
    await this.#socket.write(formatReply(Reply.OK));
    splice(this.#socket.release(), socket.release());
    return undefined;
  }

  /** Serves the visitor's datagrams as long as this connection lasts. */
  async #associate(): Promise<Buffer | undefined> {
    const { bytes } = this.#visitor;
    // The address that the visitor connected to: it is reachable, and answers come from it.
    const host = bytes.local?.address ?? '';
    let association: UdpAssociation | undefined;
    try {
      association = await this.#associations.open(bytes, () => bindVisitorPort(this.#context.environment, host), () => this.#socket.closeSoon());
    } catch (error) {
      if (!(error instanceof PortUnavailableError)) throw error;
    }
    if (!association) {
      this.#context.refused('capacity', this.#visitor.bytes);
      return formatReply(Reply.FAILURE);
    }
    try {
      if (this.#visitor.carry(association.session, { kind: 'udpAny' })) {
        await this.#socket.write(formatReply(Reply.OK, { host: host === '' ? '0.0.0.0' : host, port: association.port }));
        while (await this.#socket.read());
      } else {
        await this.#socket.write(replyTo('not-served'));
      }
      return undefined;
    } finally {
      association.session.destroy();
    }
  }

  /** @throws {SocksError} */
  async #read<T extends { readonly length: number }>(parse: (bytes: Buffer) => T | undefined): Promise<T> {
    const message = await this.#socket.parse(parse);
    if (!message) throw new SocketGoneError('the visitor closed the connection in the middle of a message');
    return message;
  }
}

function replyTo(problem: ProxyProblem): Buffer {
  return formatReply(proxyProblems[problem].socks);
}
