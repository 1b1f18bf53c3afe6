import { type RequestHandler, Router } from 'express';
import { page } from './page.ts';

/** Shows the JSON that `/login/verify` returns. Without the script the form also works, and the browser shows the JSON. */
const script = `const form = document.querySelector('form');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const output = form.querySelector('output');
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    const { status, msg } = await answer.json();
    if (status === 1) location.assign(form.dataset.next);
    else output.textContent = msg;
  } catch {
    output.textContent = 'the server does not answer';
  }
});
`;

/**
 * `/login/index`: the login form (contract 3.3), to which a browser without a session is redirected (D1). After a login, the page goes to the start
 * page, since responses of `/login/verify` don't name a page.
 */
export function loginPage({ basePath }: { readonly basePath: string }): RequestHandler {
  const body = `<form method="post" action="${basePath}/login/verify" data-next="${basePath}/">
<p><label>Name<br><input name="username" autocomplete="username" required autofocus></label></p>
<p><label>Password<br><input name="password" type="password" autocomplete="current-password" required></label></p>
<p><button>Log in</button> <output></output></p>
</form>
<p>Programs sign their calls with <code>auth_key</code> and <code>timestamp</code>, or bring a token.</p>`;
  const show = page('Log in', body, script);
  return Router().get('/login/index', (request, response, next) => {
    // Without this header, browsers without scripts would not send the form's origin.
    response.set('Referrer-Policy', 'same-origin');
    return show(request, response, next);
  });
}
