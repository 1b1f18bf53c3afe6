import { type RequestHandler, Router } from 'express';
import { page } from './page.ts';

/** Shows what `/login/verify` answers, which is JSON; without it the form works too, and the browser shows the JSON. */
const script = `const form = document.querySelector('form');
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  const told = form.querySelector('output');
  try {
    const answer = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
    const { status, msg } = await answer.json();
    if (status === 1) location.assign(form.dataset.next);
    else told.textContent = msg;
  } catch {
    told.textContent = 'the server does not answer';
  }
});
`;

/**
 * `/login/index`: the form of a login (contract 3.3), and where a browser is led that has to log in (D1). A login leads to the start
 * page, for the answers of `/login/verify` say nothing of pages.
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
    // Otherwise a browser without the script would not say that the form comes from this very site.
    response.set('Referrer-Policy', 'same-origin');
    return show(request, response, next);
  });
}
