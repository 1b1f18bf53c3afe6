import { audit } from './audit.ts';
import { clients } from './clients.ts';
import { common } from './common.ts';
import { dashboard } from './dashboard.ts';
import { diagnosis } from './diagnosis.ts';
import { errors } from './errors.ts';
import { hosts } from './hosts.ts';
import { people } from './people.ts';
import { problems } from './problems.ts';
import { server } from './server.ts';
import { shell } from './shell.ts';
import { tunnels } from './tunnels.ts';

/** The English messages. Their type is that of every language's messages, so the type checker finds what a language lacks. */
export const en = { ...common, shell, errors, clients, tunnels, hosts, diagnosis, dashboard, audit, people, problems, server };

/** The messages of a language. */
export type Messages = typeof en;
