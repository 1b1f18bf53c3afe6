import { useEditorContext } from '@graphiql/react';
import { Icon } from '../parts/icon.tsx';

/** The operations that are open: one of them is shown. */
export function OperationTabs() {
  const editors = useEditorContext({ nonNull: true });
  return (
    <ul className='graphiql-tabs' aria-label='Open operations'>
      {editors.tabs.map(({ id, title }, index) => (
        <li key={id}>
          <button type='button' aria-current={index === editors.activeTabIndex} onClick={() => editors.changeTab(index)}>{title}</button>
          {editors.tabs.length > 1 && (
            <button
              type='button'
              className='btn btn-ghost btn-s btn-icon'
              aria-label={`Close ${title}`}
              onClick={() => editors.closeTab(index)}
            >
              <Icon name='close' />
            </button>
          )}
        </li>
      ))}
      <li>
        <button type='button' className='btn btn-ghost btn-s btn-icon' aria-label='New operation' onClick={() => editors.addTab()}>
          <Icon name='plus' />
        </button>
      </li>
    </ul>
  );
}
