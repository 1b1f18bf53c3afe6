import { HeaderEditor, QueryEditor, VariableEditor } from '@graphiql/react';
import { useState } from 'react';

/** The operation, and below it its variables or the headers to send. */
export function Inputs() {
  const [showsHeaders, setShowsHeaders] = useState(false);
  return (
    <section className='graphiql-pane' aria-label='Request'>
      <div className='graphiql-query'>
        <QueryEditor />
      </div>
      <div className='graphiql-values'>
        <div className='seg seg-s'>
          <button type='button' aria-pressed={!showsHeaders} onClick={() => setShowsHeaders(false)}>Variables</button>
          <button type='button' aria-pressed={showsHeaders} onClick={() => setShowsHeaders(true)}>Headers</button>
        </div>
        <VariableEditor isHidden={showsHeaders} />
        <HeaderEditor isHidden={!showsHeaders} />
      </div>
    </section>
  );
}
