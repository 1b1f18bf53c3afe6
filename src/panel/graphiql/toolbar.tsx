import { useCopyQuery, useEditorContext, useExecutionContext, usePrettifyEditors } from '@graphiql/react';

/** Runs the operation, or one of several in the same tab; formats and copies it. */
export function Toolbar() {
  const editors = useEditorContext({ nonNull: true });
  const execution = useExecutionContext({ nonNull: true });
  const prettify = usePrettifyEditors();
  const copy = useCopyQuery();
  const names = (editors.queryEditor?.operations ?? []).flatMap(({ name }) => name === undefined ? [] : [name.value]);
  return (
    <div className='graphiql-actions'>
      {execution.isFetching || execution.isSubscribed
        ? <button type='button' className='btn' onClick={() => execution.stop()}>Stop</button>
        : <button type='button' className='btn btn-primary' title='Ctrl Enter' onClick={() => execution.run()}>Run</button>}
      {names.length > 1 && (
        <select
          className='select'
          aria-label='Operation to run'
          value={editors.queryEditor?.operationName ?? ''}
          onChange={({ target }) => editors.setOperationName(target.value)}
        >
          {names.map((name) => <option key={name}>{name}</option>)}
        </select>
      )}
      <button type='button' className='btn btn-ghost' title='Shift Ctrl P' onClick={() => void prettify()}>Format</button>
      <button type='button' className='btn btn-ghost' title='Shift Ctrl C' onClick={copy}>Copy</button>
    </div>
  );
}
