import { MessageSocket } from '../../wire/message-socket.ts';
import { encodeOpen } from '../../wire/open.ts';
import { cleanText } from '../../wire/peer-text.ts';
import type { AgentSession } from './agent-session.ts';

/** Added to the dial timeout for the round trip to the agent, in ms. */
const WAY_MS = 2000;
/** Maximum length of an agent's answer that is shown, in characters. */
const ANSWER_LENGTH = 1000;

/**
 * Makes an agent dial a target and close the connection. @param session undefined = the agent is not connected
 * @returns the error as text for people; "" = the target accepted the connection
 */
export function probeThrough(session: Pick<AgentSession, 'open'> | undefined, target: string, timeoutMs: number): Promise<string> {
  if (!session) return Promise.resolve('the agent is not connected');
  const stream = session.open(encodeOpen({ kind: 'probe', target, timeoutMs }));
  if (!stream) return Promise.resolve('the agent takes no more connections');
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve('the agent did not answer in time');
      stream.reset();
    }, timeoutMs + WAY_MS);
    stream.join(
      new MessageSocket('', (answer) => {
        clearTimeout(timer);
        resolve(answer ? cleanText(answer.toString('utf8'), ANSWER_LENGTH) : 'the agent went away, or is too old to try targets');
      }),
    );
  });
}
