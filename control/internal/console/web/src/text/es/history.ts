import type { history as english } from '../en/history';
import type { Translation } from '../message';

export const history: Translation<typeof english> = {
  'history.tab': 'Historial',
  'history.earlier': 'Estado más antiguo conocido',
  'history.created': 'Creado',
  'history.updated': 'Modificado',
  'history.deleted': 'Movido a la papelera',
  'history.restored': 'Restaurado de la papelera',
  'history.rolledBack': 'Versión anterior restaurada',
  'history.before': 'Antes',
  'history.after': 'Después',
  'history.fields': 'Campos modificados',
  'history.unknown': 'fecha desconocida',
  'history.now': 'Actual',
  'history.gone': 'un usuario eliminado',
  'history.restore': 'Restaurar esta versión',
  'history.ask': '¿Restaurar esta versión?',
  'history.askHint':
    'El enlace, sus reglas y sus variantes vuelven al estado del {time}. El slug, los clics y la imagen de vista previa no cambian. El historial conserva el estado actual, así que puede volver a él.',
  'history.done': 'Restaurada. Los visitantes reciben esta versión en menos de un segundo.',
  'history.part.ruleAdded': 'Regla «{name}» añadida',
  'history.part.ruleChanged': 'Regla «{name}» modificada',
  'history.part.ruleRemoved': 'Regla «{name}» eliminada',
  'history.part.variantAdded': 'Variante «{name}» añadida',
  'history.part.variantChanged': 'Variante «{name}» modificada',
  'history.part.variantRemoved': 'Variante «{name}» eliminada',
  'history.priority': 'Prioridad',
  'history.reach': 'Esto ha cambiado desde entonces y vuelve a ese estado:',
};
