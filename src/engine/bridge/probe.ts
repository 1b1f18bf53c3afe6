import { MessageSocket } from '../../wire/message-socket.ts';
import { encodeOpen } from '../../wire/open.ts';
import { cleanText } from '../../wire/peer-text.ts';
import type { AgentSession } from './agent-session.ts';

/** How much longer than the dial the answer may take, in ms: the round trip to the agent. */
const WAY_MS = 2000;
/** The most of an agent's answer that is shown, in characters. */
const ANSWER_LENGTH = 1000;

/**
 * Has an agent dial a target and close again. @param session undefined = the agent is not connected
 * @returns why it failed, for people; "" = the target took the connection
 */
export function probeThrough(session: AgentSession | undefined, target: string, timeoutMs: number): Promise<string> {
  if (!session) return Promise.resolve('the agent is not connected');
  const stream = session.open(encodeOpen({ kind: 'probe', target, timeoutMs }));
  if (!stream) return Promise.resolve('the agent takes no more connections');
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve('the agent did not answer in time');
      stream.reset();
    }, timeoutMs + WAY_MS);
    stream.join(new MessageSocket('', (answer) => {
      clearTimeout(timer);
      resolve(answer ? cleanText(answer.toString('utf8'), ANSWER_LENGTH) : 'the agent went away, or is too old to try targets');
    }));
  });
}
