import type { Load } from './load.ts';
import type { Site } from './site.ts';
import type { Targets } from './targets.ts';

/** Something that an operator does, or that happens, while everything is under load. */
export interface Disturbance {
  readonly name: string;
  run(): Promise<void>;
}

/** Visitors that leave while the targets are silent, of each site. */
const LEAVING = 20;

/**
 * What happens over and over, in this order. The agent of `restless` is ended again and again; that of `steady` lives through the whole, so that what
 * it leaks can be seen, while its client is edited and it is frozen and cut off. Silent targets explain no failure: every transfer waits for them.
 */
export function disturbances(load: Load, targets: Targets, restless: Site, steady: Site): readonly Disturbance[] {
  const on = (site: Site, name: string, work: () => Promise<void>, killed?: string): Disturbance => ({
    name: `${site.name}: ${name}`,
    run: () => load.disturb(site, work, killed),
  });
  return [
    on(restless, 'agent stopped and started', () => restless.restartAgent('SIGTERM')),
    on(steady, 'rate limit lowered and raised', async () => {
      await steady.edit({ rate_limit: 1000 });
      await steady.edit({ rate_limit: 4000 });
    }),
    on(steady, 'agent frozen', () => steady.freezeAgent()),
    on(restless, 'agent killed and started', () => restless.restartAgent('SIGKILL')),
    on(restless, 'agent cut off', () => restless.cutOff()),
    on(steady, 'tunnels and hosts stopped and started', () => steady.stopAndStart()),
    on(steady, 'compression off', () => steady.edit({ compress: 0 })),
    on(restless, 'tunnels and hosts stopped and started', () => restless.stopAndStart()),
    on(restless, 'agent frozen', () => restless.freezeAgent()),
    {
      name: 'targets silent, visitors leave',
      run: () =>
        targets.freeze(async () => {
          await Promise.all([restless.visitAndLeave(LEAVING), steady.visitAndLeave(LEAVING)]);
        }),
    },
    on(steady, 'encryption off', () => steady.edit({ crypt: 0 })),
    on(steady, 'agent cut off', () => steady.cutOff()),
    on(restless, 'visitor programs killed and started', async () => {
      await restless.restartVisitor(0, 'SIGKILL');
      await restless.restartVisitor(1, 'SIGTERM');
    }, 'secret'),
    on(steady, 'encryption and compression on', () => steady.edit({ crypt: 1, compress: 1 })),
  ];
}
