import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react';
import { en, type Messages } from './en/index.ts';
import { createFormats, type Formats } from './formats.ts';
import { kept, keep } from './kept.ts';

/** The languages of the panel. */
export type LanguageCode = 'en' | 'zh';

/** The chosen language: its messages and formats. */
export interface Language {
  readonly code: LanguageCode;
  readonly t: Messages;
  readonly f: Formats;
  readonly choose: (code: LanguageCode) => void;
}

/** Each language except English is loaded when it is chosen. */
const loaders: Record<LanguageCode, () => Promise<Messages>> = {
  en: async () => en,
  zh: async () => (await import('./zh/index.ts')).zh,
};

const LanguageContext = createContext<Language | undefined>(undefined);

/** The chosen language: the one chosen earlier, otherwise the browser's. */
export function LanguageProvider({ children }: { readonly children: ReactNode }) {
  const [code, setCode] = useState<LanguageCode>(initialCode);
  const [loaded, setLoaded] = useState<{ readonly code: LanguageCode; readonly t: Messages }>();
  useEffect(() => {
    let isWanted = true;
    void loaders[code]().then((t) => {
      if (!isWanted) return;
      document.documentElement.lang = code === 'zh' ? 'zh-Hans' : 'en';
      setLoaded({ code, t });
    });
    return () => {
      isWanted = false;
    };
  }, [code]);
  const language = useMemo<Language | undefined>(
    () =>
      loaded && {
        ...loaded,
        f: createFormats(loaded.code === 'zh' ? 'zh-CN' : 'en-GB', loaded.t.units, loaded.t.words.of),
        choose: (chosen) => {
          keep('language', chosen);
          setCode(chosen);
        },
      },
    [loaded],
  );
  return language && <LanguageContext value={language}>{children}</LanguageContext>;
}

/** The chosen language. */
export function useLanguage(): Language {
  const language = useContext(LanguageContext);
  if (language === undefined) throw new Error('this component is outside of LanguageProvider');
  return language;
}

function initialCode(): LanguageCode {
  const before = kept('language');
  if (before === 'en' || before === 'zh') return before;
  return navigator.languages.find((name) => /^(en|zh)\b/i.test(name))?.toLowerCase().startsWith('zh') === true ? 'zh' : 'en';
}
