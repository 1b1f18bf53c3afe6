import { Redirect, raw, type Route } from '../route.ts';
import { about, readParameters, text } from '../parameters.ts';

const credentials = { username: about('The login name.', text()), password: about('The password.', text()) };

/** The endpoints under /login (contract 3.3). The page /login/index belongs to the panel. */
export const loginRoutes: readonly Route[] = [
  raw({
    path: '/login/verify',
    answer: 'Login',
    methods: ['POST'],
    summary: 'Logs in with user name and password: the administrator, a user, or the web login of a client. The response sets the session cookie.',
    parameters: credentials,
    bind: ({ callers }) => async ({ request, response, input }) => {
      const { username = '', password = '' } = readParameters(credentials, input, false);
      const right = await callers.logIn(request, response, username, password);
      return right ? { status: 1, msg: 'login success' } : { status: 0, msg: 'username or password incorrect' };
    },
  }),
  raw({
    path: '/login/out',
    redirects: true,
    summary: 'Ends the session and redirects to the login page.',
    bind: ({ callers }) => async ({ request, response }) => {
      await callers.logOut(request, response);
      return new Redirect('/login/index');
    },
  }),
];
