import type { palette as en } from '../en/palette';
import type { Translation } from '../message';

export const palette: Translation<typeof en> = {
  'palette.title': 'Suchen',
  'palette.search': 'Link, Seite oder Aktion',
  'palette.results': 'Ergebnisse',
  'palette.nothing': 'Nichts gefunden',
  'palette.workIn': 'Zu {name} wechseln',
  'palette.theme': 'Farbschema: {name}',
  'palette.language': 'Sprache: {name}',
  'palette.keys': 'Tastenkürzel',
};
