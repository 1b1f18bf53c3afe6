import { type ConfProblem, type NpsConf, parseConf } from '../nps/conf.ts';

/** A section of an npc.conf. */
export interface Section {
  readonly name: string;
  readonly conf: NpsConf;
}

/** Splits an npc.conf into its sections. Lines before the first one belong to `common`. @param problems collects lines that can't be read */
export function sectionsOf(text: string, problems: ConfProblem[]): Section[] {
  const sections: Array<{ readonly name: string; readonly start: number; readonly lines: string[] }> = [{ name: 'common', start: 0, lines: [] }];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const name = /^\s*\[(.+)\]\s*$/.exec(line)?.[1]?.trim();
    if (name === undefined) sections.at(-1)?.lines.push(line);
    else sections.push({ name, start: index + 1, lines: [] });
  }
  return sections.filter(({ name, lines }) => name !== 'common' || lines.some((line) => line.trim() !== '')).map(({ name, start, lines }) => {
    const own: ConfProblem[] = [];
    const conf = parseConf(lines.join('\n'), own);
    problems.push(...own.map(({ line, text: problem }) => ({ line: line + start, text: problem })));
    return { name, conf };
  });
}
