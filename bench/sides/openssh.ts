import { Child } from '../../test/support/child.ts';
import { programPath } from '../../test/support/find-program.ts';
import { freePort } from '../../test/support/free-port.ts';
import { sshPrograms, startSshd } from '../../test/support/sshd.ts';
import { answering } from '../answering.ts';
import type { Side } from './side.ts';

/** `ssh -R` to its own server: the most common reverse tunnel. */
export const openssh: Side = {
  name: 'OpenSSH -R',
  programs: sshPrograms,
  async start(targets) {
    const sshd = await startSshd();
    const ports = { http: await freePort(), echo: await freePort() };
    const forward = (name: keyof typeof ports): string[] => ['-R', `127.0.0.1:${ports[name]}:127.0.0.1:${targets[name]}`];
    const ssh = new Child(programPath('ssh'), ['-N', '-o', 'ExitOnForwardFailure=yes', ...forward('http'), ...forward('echo'), ...sshd.login()]);
    for (const port of Object.values(ports)) await answering(port, ssh);
    return {
      name: 'OpenSSH -R',
      ports,
      pids: [sshd.child.pid, ssh.pid],
      stop: async () => {
        await ssh.end();
        await sshd.child.end();
      },
    };
  },
};
