import { Fragment } from 'react';

/** An address or URL. Lines break before its dots and colons only, if that is enough. */
export function Address({ text }: { readonly text: string }) {
  return text.split(/(?=[.:](?!\/))/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
