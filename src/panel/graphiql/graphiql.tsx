import { DOC_EXPLORER_PLUGIN, DocExplorer } from '@graphiql/plugin-doc-explorer';
import { type EditorContextType, ResponseEditor, useEditorContext, usePluginStore } from '@graphiql/react';
import { useEffect } from 'react';
import { base } from '../base.ts';
import { Logo } from '../parts/icon.tsx';
import { Inputs } from './inputs.tsx';
import { OperationTabs } from './operation-tabs.tsx';
import { Toolbar } from './toolbar.tsx';

/** `/graphql` in a browser: the parts of GraphiQL, arranged as the panel's pages. */
export function Graphiql() {
  const plugins = usePluginStore();
  const { queryEditor, variableEditor, headerEditor, responseEditor } = useEditorContext({ nonNull: true });
  useNamed(queryEditor, 'Operation');
  useNamed(variableEditor, 'Variables');
  useNamed(headerEditor, 'Headers');
  useNamed(responseEditor, 'Response');
  const showsDocs = plugins.visiblePlugin !== null;
  return (
    <>
      <header className='topbar page-bar'>
        <a className='brand' href={`${base}/`}>
          <Logo />
          Adit
        </a>
        <h1>GraphQL</h1>
        <div className='topbar-end'>
          <button type='button' className='btn btn-s' aria-pressed={showsDocs} onClick={() => plugins.setVisiblePlugin(showsDocs ? null : DOC_EXPLORER_PLUGIN)}>
            Documentation
          </button>
        </div>
      </header>
      <main className='graphiql-container'>
        {showsDocs && (
          <div className='graphiql-docs'>
            <DocExplorer />
          </div>
        )}
        <div className='graphiql-work'>
          <OperationTabs />
          <Toolbar />
          <div className='graphiql-panes'>
            <Inputs />
            <section className='graphiql-pane' aria-label='Response'>
              <ResponseEditor />
            </section>
          </div>
        </div>
      </main>
    </>
  );
}

/** Names an editor for assistive programs, lets it be scrolled by keyboard, and lets the Tab key leave it. */
function useNamed(editor: EditorContextType['responseEditor'], name: string): void {
  useEffect(() => {
    if (editor === null) return;
    editor.getInputField().setAttribute('aria-label', name);
    editor.getScrollerElement().tabIndex = 0;
    editor.addKeyMap({ Tab: false, 'Shift-Tab': false });
  }, [editor, name]);
}
