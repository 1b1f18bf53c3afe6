const line = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:[\t\x20-\x7e\x80-\u{10ffff}]*$/u;

/** Whether a text is one header, `Name: value`. The value can be any text without control characters; it is sent as UTF-8. */
export function isHeaderLine(text: string): boolean {
  return line.test(text);
}

/** Whether a text can be sent as the Host header: ASCII without spaces (international names have the form `xn--`), or "". */
export function isHostHeader(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}
