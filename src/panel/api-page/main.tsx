import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from '../shell/theme.ts';
import { TryApi } from './try-api.tsx';
// The bundler collects styles into a file of its own.
/* oxlint-disable import/no-unassigned-import */
import '../styles/tokens.css';
import '../styles/panel.css';
/* oxlint-enable import/no-unassigned-import */

applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <StrictMode>
    <TryApi />
  </StrictMode>,
);
