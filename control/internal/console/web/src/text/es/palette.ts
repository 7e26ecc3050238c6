import type { palette as en } from '../en/palette';
import type { Translation } from '../message';

export const palette: Translation<typeof en> = {
  'palette.title': 'Buscar',
  'palette.search': 'Enlace, página o acción',
  'palette.results': 'Resultados',
  'palette.nothing': 'Sin resultados',
  'palette.workIn': 'Cambiar a {name}',
  'palette.theme': 'Tema: {name}',
  'palette.language': 'Idioma: {name}',
  'palette.keys': 'Atajos de teclado',
};
