import { authRoutes } from './controllers/auth.ts';
import { clientRoutes } from './controllers/client.ts';
import { globalRoutes } from './controllers/global.ts';
import { hostRoutes } from './controllers/host.ts';
import { loginRoutes } from './controllers/login.ts';
import { tokenRoutes } from './controllers/token.ts';
import { tunnelRoutes } from './controllers/tunnel.ts';
import { userRoutes } from './controllers/user.ts';
import type { Route } from './route.ts';

/** Every endpoint of the legacy API that this server has. */
export const routes: readonly Route[] = [...authRoutes, ...loginRoutes, ...clientRoutes, ...userRoutes, ...tokenRoutes, ...tunnelRoutes, ...hostRoutes, ...globalRoutes];
