import { CSPProvider } from '@base-ui/react/csp-provider';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { LanguageProvider } from './language/language.tsx';
import { applyDensity, applyTheme } from './shell/theme.ts';
// The bundler collects styles into a file of its own.
/* oxlint-disable import/no-unassigned-import */
import 'uplot/dist/uPlot.min.css';
import './styles/tokens.css';
import './styles/panel.css';
import './styles/layers.css';
/* oxlint-enable import/no-unassigned-import */

applyTheme();
applyDensity();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <CSPProvider disableStyleElements>
      <LanguageProvider>
        <App />
      </LanguageProvider>
    </CSPProvider>
  </StrictMode>,
);
