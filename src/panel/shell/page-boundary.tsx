import { Component, type ReactNode } from 'react';
import { useLanguage } from '../language/language.tsx';
import { Empty } from '../parts/banner.tsx';

interface Props {
  readonly children: ReactNode;
}

/** Shows a message instead of a page that failed, for example because the server was updated and its old scripts are gone. */
export class PageBoundary extends Component<Props, { readonly hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <Failed /> : this.props.children;
  }
}

function Failed() {
  const { t } = useLanguage();
  return (
    <div className='card'>
      <Empty
        icon='stop'
        title={t.shell.pageFailed}
        action={
          <button type='button' className='btn btn-primary' onClick={() => location.reload()}>
            {t.shell.reload}
          </button>
        }
      >
        {t.shell.pageFailedText}
      </Empty>
    </div>
  );
}
