import { DOC_EXPLORER_PLUGIN, DocExplorerContextProvider } from '@graphiql/plugin-doc-explorer';
import { GraphiQLProvider } from '@graphiql/react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from '../shell/theme.ts';
import { exampleTabs } from './examples.ts';
import { fetcher, readCaller } from './fetcher.ts';
import { Graphiql } from './graphiql.tsx';
import { storageFor } from './storage.ts';
// The bundler collects styles into a file of its own.
/* oxlint-disable import/no-unassigned-import */
import '@graphiql/react/style.css';
import '@graphiql/plugin-doc-explorer/style.css';
import '../styles/tokens.css';
import '../styles/panel.css';
import './graphiql.css';
/* oxlint-enable import/no-unassigned-import */

applyTheme();
const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
createRoot(root).render(
  <GraphiQLProvider
    fetcher={fetcher}
    storage={storageFor(await readCaller())}
    shouldPersistHeaders={false}
    defaultTabs={exampleTabs}
    plugins={[DOC_EXPLORER_PLUGIN]}
    referencePlugin={DOC_EXPLORER_PLUGIN}
  >
    <DocExplorerContextProvider>
      <Graphiql />
    </DocExplorerContextProvider>
  </GraphiQLProvider>,
);
