import { describe, expect, it } from 'vitest';
import { languages, type Language } from '../../text';
import { codes } from './countries';
import { understood } from './parse';

const today = '2026-11-28'; // a Saturday

/** What a question means, in short. */
function meant(text: string, language: Language): string | undefined {
  const q = understood(text, language, today);
  if (!q) return undefined;
  const filters = Object.entries(q.filters).map(([name, values]) => `${name}=${values.join()}`);
  const span = q.span && (q.span.range || `${q.span.from}..${q.span.to}`);
  return [...filters, q.audience, q.view && `by ${q.view}`, span].filter(Boolean).join(' ');
}

const yesterday = '2026-11-27..2026-11-27';
const lastWeek = '2026-11-16..2026-11-22';
const thisMonth = '2026-11-01..2026-11-28';

const examples: Record<Language, Record<string, string>> = {
  en: {
    'clicks from Germany yesterday': `country=DE ${yesterday}`,
    'Clicks from the United States, last 7 days': 'country=US week',
    'bots last week': `bots ${lastWeek}`,
    'mobile clicks by country this month': `device=MOBILE by country ${thisMonth}`,
    'visits from France or iPhone': '',
    'iPhone clicks from uk today': 'os=iOS country=GB 2026-11-28..2026-11-28',
    'clicks with bots last 14 days': 'all 2026-11-15..2026-11-28',
    'clicks last month by source': 'by referer 2026-10-01..2026-10-31',
    'clicks from news.example.com #spring': 'referer=news.example.com tag=spring',
    'clicks from Côte d’Ivoire': 'country=CI',
  },
  de: {
    'Klicks aus Deutschland gestern': `country=DE ${yesterday}`,
    'Klicks aus Österreich in den letzten 7 Tagen': 'country=AT week',
    'Bots letzte Woche': `bots ${lastWeek}`,
    'Handy-Klicks nach Land diesen Monat': `device=MOBILE by country ${thisMonth}`,
    'clicks from Germany yesterday': `country=DE ${yesterday}`,
  },
  fr: {
    'clics d’Allemagne hier': `country=DE ${yesterday}`,
    'clics des États-Unis les 7 derniers jours': 'country=US week',
    'robots la semaine dernière': `bots ${lastWeek}`,
    'clics mobiles par pays ce mois-ci': `device=MOBILE by country ${thisMonth}`,
    "visites aujourd'hui": '2026-11-28..2026-11-28',
  },
  es: {
    'clics de Alemania ayer': `country=DE ${yesterday}`,
    'clics desde España los últimos 7 días': 'country=ES week',
    'bots la semana pasada': `bots ${lastWeek}`,
    'clics de móviles por país este mes': `device=MOBILE by country ${thisMonth}`,
  },
  ja: {
    昨日のドイツからのクリック: `country=DE ${yesterday}`,
    'アメリカからのクリック 過去7日間': 'country=US week',
    先週のボット: `bots ${lastWeek}`,
    今月のスマホの国別クリック数: `device=MOBILE by country ${thisMonth}`,
  },
  ar: {
    'نقرات من ألمانيا أمس': `country=DE ${yesterday}`,
    'النقرات من مصر آخر ٧ أيام': 'country=EG week',
    'الروبوتات الأسبوع الماضي': `bots ${lastWeek}`,
    'نقرات الهاتف حسب البلد هذا الشهر': `device=MOBILE by country ${thisMonth}`,
  },
};

describe('understood', () => {
  for (const language of Object.keys(languages) as Language[]) {
    it(`reads questions in ${language}`, () => {
      for (const [text, want] of Object.entries(examples[language])) {
        const got = meant(text, language);
        expect([text, got]).toEqual([text, want === '' ? undefined : want]);
      }
    });
  }

  it('leaves other texts alone', () => {
    for (const text of [
      'spring collection',
      'clicks',
      'from',
      '',
      'germany shoes',
      'x'.repeat(200),
      'last 0 days clicks',
    ]) {
      expect([text, meant(text, 'en')]).toEqual([text, undefined]);
    }
  });

  it('is sure of questions only', () => {
    expect(understood('Georgia', 'en', today)?.sure).toBe(false);
    expect(understood('Georgia yesterday', 'en', today)?.sure).toBe(true);
    expect(understood('clicks from Georgia', 'en', today)?.sure).toBe(true);
  });
});

describe('codes', () => {
  it('has countries in use only', () => {
    const all = codes();
    expect(all).toEqual(expect.arrayContaining(['DE', 'VN', 'RS', 'YE', 'ZW', 'VU']));
    expect(all.filter((code) => ['DD', 'VD', 'CS', 'YD', 'RH', 'NH', 'EU', 'ZZ'].includes(code))).toEqual([]);
  });
});
