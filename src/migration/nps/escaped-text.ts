const entities: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&#34;': '"', '&quot;': '"', '&#39;': "'" };

/** A text as its author meant it: NPS escapes these characters once before it stores a text (contract section 0). */
export function unescaped(text: string): string {
  return text.includes('&') ? text.replaceAll(/&(?:amp|lt|gt|quot|#34|#39);/g, (entity) => entities[entity] ?? entity) : text;
}

/** A text as NPS stores it: the inverse of {@link unescaped}. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;').replaceAll("'", '&#39;');
}
