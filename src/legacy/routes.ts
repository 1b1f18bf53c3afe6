import { authRoutes } from './controllers/auth.ts';
import { clientRoutes } from './controllers/client.ts';
import { globalRoutes } from './controllers/global.ts';
import { hostRoutes } from './controllers/index-hosts.ts';
import { loginRoutes } from './controllers/login.ts';
import { tokenRoutes } from './controllers/user-api-key.ts';
import { tunnelRoutes } from './controllers/index-tunnels.ts';
import { userRoutes } from './controllers/user.ts';
import type { Route } from './route.ts';

/** All endpoints of the legacy API. */
export const routes: readonly Route[] = [
  ...authRoutes,
  ...loginRoutes,
  ...clientRoutes,
  ...userRoutes,
  ...tokenRoutes,
  ...tunnelRoutes,
  ...hostRoutes,
  ...globalRoutes,
];
