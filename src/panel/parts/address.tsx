import { Fragment } from 'react';

/** An address or URL. Its lines break before the port, if that is enough. @param atDots whether they also break before dots: for long names in narrow columns */
export function Address({ text, atDots = false }: { readonly text: string; readonly atDots?: boolean }) {
  return text.split(atDots ? /(?=[.:](?!\/))/ : /(?=:\d+$)/).map((part, at) => (
    <Fragment key={at}>
      {at > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}
