import type { palette as en } from '../en/palette';
import type { Translation } from '../message';

export const palette: Translation<typeof en> = {
  'palette.title': 'Rechercher',
  'palette.search': 'Lien, page ou action',
  'palette.results': 'Résultats',
  'palette.nothing': 'Aucun résultat',
  'palette.workIn': 'Passer à {name}',
  'palette.theme': 'Thème : {name}',
  'palette.language': 'Langue : {name}',
  'palette.keys': 'Raccourcis clavier',
};
