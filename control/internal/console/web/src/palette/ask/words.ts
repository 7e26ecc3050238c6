// The words of questions about clicks, such as "clicks from Germany yesterday", in each language of the console. Phrases are tried
// from the longest to the shortest, so "last week" comes before "last". {n} stands for a number.
import type { Language } from '../../text';

export type Period =
  | 'today'
  | 'yesterday'
  | 'thisWeek'
  | 'lastWeek'
  | 'thisMonth'
  | 'lastMonth'
  | 'thisYear'
  | 'lastYear'
  | 'hour'
  | 'days'
  | 'hours';

export type Device = 'MOBILE' | 'TABLET' | 'DESKTOP';

/** What a report can be looked at by. */
export const views = ['country', 'region', 'city', 'language', 'device', 'os', 'browser', 'referer'] as const;

export type View = (typeof views)[number];

export interface Words {
  periods: Record<Period, readonly string[]>;
  devices: Record<Device, readonly string[]>;
  bots: readonly string[];
  /** Bots and people. */
  all: readonly string[];
  views: Record<View, readonly string[]>;
  /** Words for clicks, which make a text a question. */
  clicks: readonly string[];
  /** Words that change nothing. */
  noise: readonly string[];
  /** Other names of countries, by their code. */
  countries?: Readonly<Record<string, readonly string[]>>;
}

export const words: Record<Language, Words> = {
  en: {
    periods: {
      today: ['today'],
      yesterday: ['yesterday'],
      thisWeek: ['this week'],
      lastWeek: ['last week', 'previous week'],
      thisMonth: ['this month'],
      lastMonth: ['last month', 'previous month'],
      thisYear: ['this year'],
      lastYear: ['last year', 'previous year'],
      hour: ['last hour', 'past hour'],
      days: ['last {n} days', 'past {n} days', '{n} days'],
      hours: ['last {n} hours', 'past {n} hours', '{n} hours'],
    },
    devices: {
      MOBILE: ['mobile', 'mobiles', 'phone', 'phones', 'smartphone', 'smartphones'],
      TABLET: ['tablet', 'tablets'],
      DESKTOP: ['desktop', 'desktops', 'computer', 'computers'],
    },
    bots: ['bots', 'bot', 'bots only', 'only bots'],
    all: ['with bots', 'including bots', 'people and bots'],
    views: {
      country: ['by country', 'by countries'],
      region: ['by region'],
      city: ['by city', 'by cities'],
      language: ['by language'],
      device: ['by device'],
      os: ['by system', 'by operating system', 'by os'],
      browser: ['by browser'],
      referer: ['by source', 'by referrer', 'by referer'],
    },
    clicks: ['click', 'clicks', 'visit', 'visits', 'visitors', 'traffic', 'report', 'analytics'],
    noise: [
      'from',
      'in',
      'on',
      'of',
      'the',
      'at',
      'with',
      'show',
      'me',
      'only',
      'and',
      'all',
      'for',
      'during',
      'people',
    ],
    countries: { US: ['us', 'usa', 'america'], GB: ['uk', 'britain', 'england'], AE: ['uae'] },
  },
  de: {
    periods: {
      today: ['heute'],
      yesterday: ['gestern'],
      thisWeek: ['diese woche', 'dieser woche'],
      lastWeek: [
        'letzte woche',
        'letzter woche',
        'vorige woche',
        'voriger woche',
        'vergangene woche',
        'der letzten woche',
      ],
      thisMonth: ['dieser monat', 'diesen monat', 'diesem monat'],
      lastMonth: ['letzter monat', 'letzten monat', 'letztem monat', 'vorigen monat', 'vergangenen monat'],
      thisYear: ['dieses jahr', 'diesem jahr'],
      lastYear: ['letztes jahr', 'letzten jahr', 'voriges jahr', 'vergangenes jahr'],
      hour: ['letzte stunde', 'letzten stunde'],
      days: ['letzte {n} tage', 'letzten {n} tage', 'letzten {n} tagen', '{n} tage'],
      hours: ['letzte {n} stunden', 'letzten {n} stunden', '{n} stunden'],
    },
    devices: {
      MOBILE: ['handy', 'handys', 'mobil', 'smartphone', 'smartphones', 'telefon', 'telefone', 'telefonen'],
      TABLET: ['tablet', 'tablets'],
      DESKTOP: ['desktop', 'computer', 'computern', 'rechner', 'pc', 'pcs'],
    },
    bots: ['bots', 'bot', 'nur bots'],
    all: ['mit bots', 'einschließlich bots', 'menschen und bots'],
    views: {
      country: ['nach land', 'nach ländern', 'je land'],
      region: ['nach region', 'nach regionen'],
      city: ['nach stadt', 'nach städten', 'nach ort'],
      language: ['nach sprache', 'nach sprachen'],
      device: ['nach gerät', 'nach geräten'],
      os: ['nach system', 'nach betriebssystem'],
      browser: ['nach browser', 'nach browsern'],
      referer: ['nach quelle', 'nach quellen', 'nach herkunft'],
    },
    clicks: ['klick', 'klicks', 'besuch', 'besuche', 'besucher', 'aufrufe', 'bericht', 'auswertung', 'zugriffe'],
    noise: [
      'aus',
      'von',
      'vom',
      'in',
      'im',
      'auf',
      'mit',
      'der',
      'die',
      'das',
      'den',
      'dem',
      'am',
      'an',
      'zeige',
      'nur',
      'und',
      'alle',
    ],
    countries: { US: ['usa', 'amerika'], GB: ['england', 'großbritannien', 'uk'] },
  },
  fr: {
    periods: {
      today: ["aujourd'hui"],
      yesterday: ['hier'],
      thisWeek: ['cette semaine'],
      lastWeek: ['semaine dernière', 'semaine passée', 'semaine précédente'],
      thisMonth: ['ce mois', 'ce mois-ci'],
      lastMonth: ['mois dernier', 'mois passé', 'mois précédent'],
      thisYear: ['cette année'],
      lastYear: ["l'année dernière", 'année dernière', 'an dernier', 'année passée'],
      hour: ['dernière heure'],
      days: ['{n} derniers jours', 'derniers {n} jours', '{n} jours'],
      hours: ['{n} dernières heures', 'dernières {n} heures', '{n} heures'],
    },
    devices: {
      MOBILE: ['mobile', 'mobiles', 'téléphone', 'téléphones', 'smartphone', 'smartphones'],
      TABLET: ['tablette', 'tablettes'],
      DESKTOP: ['ordinateur', 'ordinateurs', 'bureau', 'pc'],
    },
    bots: ['robots', 'robot', 'bots', 'robots seulement'],
    all: ['avec robots', 'avec les robots', 'robots compris'],
    views: {
      country: ['par pays'],
      region: ['par région'],
      city: ['par ville'],
      language: ['par langue'],
      device: ['par appareil'],
      os: ['par système', "par système d'exploitation"],
      browser: ['par navigateur'],
      referer: ['par source', 'par provenance'],
    },
    clicks: ['clic', 'clics', 'visite', 'visites', 'visiteurs', 'trafic', 'rapport', 'statistiques'],
    noise: [
      'de',
      'du',
      'des',
      'd',
      'l',
      'la',
      'le',
      'les',
      'depuis',
      'en',
      'au',
      'aux',
      'sur',
      'dans',
      'à',
      'et',
      'ces',
      'seulement',
      'tous',
      'ci',
    ],
    countries: { US: ['usa', 'amérique'], GB: ['angleterre', 'grande-bretagne'] },
  },
  es: {
    periods: {
      today: ['hoy'],
      yesterday: ['ayer'],
      thisWeek: ['esta semana'],
      lastWeek: ['semana pasada', 'última semana', 'semana anterior'],
      thisMonth: ['este mes'],
      lastMonth: ['mes pasado', 'último mes', 'mes anterior'],
      thisYear: ['este año'],
      lastYear: ['año pasado', 'último año', 'año anterior'],
      hour: ['última hora'],
      days: ['últimos {n} días', '{n} últimos días', '{n} días'],
      hours: ['últimas {n} horas', '{n} últimas horas', '{n} horas'],
    },
    devices: {
      MOBILE: ['móvil', 'móviles', 'teléfono', 'teléfonos', 'celular', 'celulares'],
      TABLET: ['tableta', 'tabletas', 'tablet', 'tablets'],
      DESKTOP: ['ordenador', 'ordenadores', 'escritorio', 'computadora', 'computadoras'],
    },
    bots: ['bots', 'bot', 'robots', 'solo bots'],
    all: ['con bots', 'incluidos bots', 'incluidos los bots'],
    views: {
      country: ['por país', 'por países'],
      region: ['por región'],
      city: ['por ciudad', 'por ciudades'],
      language: ['por idioma'],
      device: ['por dispositivo'],
      os: ['por sistema', 'por sistema operativo'],
      browser: ['por navegador'],
      referer: ['por fuente', 'por origen', 'por procedencia'],
    },
    clicks: ['clic', 'clics', 'visita', 'visitas', 'visitantes', 'tráfico', 'informe', 'analítica'],
    noise: ['de', 'del', 'desde', 'en', 'el', 'la', 'los', 'las', 'con', 'y', 'a', 'solo', 'todos', 'ver'],
    countries: { US: ['ee uu', 'eeuu', 'usa', 'américa'], GB: ['inglaterra', 'gran bretaña'] },
  },
  ja: {
    periods: {
      today: ['今日', '本日'],
      yesterday: ['昨日', 'きのう'],
      thisWeek: ['今週'],
      lastWeek: ['先週'],
      thisMonth: ['今月'],
      lastMonth: ['先月'],
      thisYear: ['今年'],
      lastYear: ['昨年', '去年'],
      hour: ['過去 1 時間', '直近 1 時間'],
      days: ['過去 {n} 日間', '過去 {n} 日', '直近 {n} 日間', '直近 {n} 日', '{n} 日間'],
      hours: ['過去 {n} 時間', '直近 {n} 時間'],
    },
    devices: {
      MOBILE: ['スマホ', 'スマートフォン', '携帯', 'モバイル'],
      TABLET: ['タブレット'],
      DESKTOP: ['パソコン', 'デスクトップ', 'pc'],
    },
    bots: ['ボット', 'bot'],
    all: ['ボットを含む', 'ボットも含む'],
    views: {
      country: ['国別', '国ごと'],
      region: ['地域別'],
      city: ['都市別'],
      language: ['言語別'],
      device: ['デバイス別', '端末別'],
      os: ['os 別', 'システム別'],
      browser: ['ブラウザ別', 'ブラウザー別'],
      referer: ['参照元別', '流入元別'],
    },
    clicks: ['クリック数', 'クリック', '訪問者', '訪問', 'アクセス', 'レポート', '分析'],
    noise: ['から', 'での', 'の', 'を', 'は', 'に', 'で', 'と', 'が', 'だけ', 'のみ', '見る', '、', '表示'],
    countries: { US: ['米国', 'アメリカ'], GB: ['イギリス', '英国'] },
  },
  ar: {
    periods: {
      today: ['اليوم'],
      yesterday: ['أمس', 'البارحة'],
      thisWeek: ['هذا الأسبوع'],
      lastWeek: ['الأسبوع الماضي', 'الأسبوع السابق'],
      thisMonth: ['هذا الشهر'],
      lastMonth: ['الشهر الماضي', 'الشهر السابق'],
      thisYear: ['هذا العام', 'هذه السنة'],
      lastYear: ['العام الماضي', 'السنة الماضية'],
      hour: ['الساعة الأخيرة', 'آخر ساعة'],
      days: ['آخر {n} أيام', 'آخر {n} يوما', 'آخر {n} يومًا', 'آخر {n} يوم', '{n} أيام'],
      hours: ['آخر {n} ساعات', 'آخر {n} ساعة'],
    },
    devices: {
      MOBILE: ['هاتف', 'الهاتف', 'هواتف', 'الهواتف', 'جوال', 'الجوال'],
      TABLET: ['لوحي', 'الأجهزة اللوحية', 'جهاز لوحي'],
      DESKTOP: ['حاسوب', 'الحاسوب', 'كمبيوتر', 'الكمبيوتر'],
    },
    bots: ['روبوتات', 'الروبوتات', 'بوتات', 'البوتات'],
    all: ['مع الروبوتات', 'بما فيها الروبوتات'],
    views: {
      country: ['حسب البلد', 'حسب الدولة', 'حسب البلدان'],
      region: ['حسب المنطقة'],
      city: ['حسب المدينة'],
      language: ['حسب اللغة'],
      device: ['حسب الجهاز'],
      os: ['حسب النظام', 'حسب نظام التشغيل'],
      browser: ['حسب المتصفح'],
      referer: ['حسب المصدر'],
    },
    clicks: ['نقرة', 'نقرات', 'النقرات', 'زيارة', 'زيارات', 'الزيارات', 'الزوار', 'تقرير', 'تحليلات'],
    noise: ['من', 'في', 'على', 'عبر', 'خلال', 'عن', 'مع', 'كل', 'فقط', 'و', 'بواسطة'],
    countries: { US: ['أمريكا'], GB: ['بريطانيا', 'إنجلترا'] },
  },
};

/** Systems and browsers are called the same everywhere, as the values of their filters. */
export const products: Readonly<Record<string, readonly ['os' | 'browser', string]>> = {
  iphone: ['os', 'iOS'],
  ios: ['os', 'iOS'],
  android: ['os', 'Android'],
  windows: ['os', 'Windows'],
  macos: ['os', 'macOS'],
  mac: ['os', 'macOS'],
  linux: ['os', 'Linux'],
  chrome: ['browser', 'Chrome'],
  safari: ['browser', 'Safari'],
  firefox: ['browser', 'Firefox'],
  edge: ['browser', 'Edge'],
  opera: ['browser', 'Opera'],
};
