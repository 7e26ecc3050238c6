import type { trash as en } from '../en/trash';
import type { Translation } from '../message';

export const trash: Translation<typeof en> = {
  'nav.trash': 'Papelera',
  'trash.hint': {
    one: 'Los enlaces eliminados se pueden restaurar durante {n} día.',
    other: 'Los enlaces eliminados se pueden restaurar durante {n} días.',
  },
  'trash.off': 'Este servidor no conserva los enlaces eliminados.',
  'trash.empty': 'La papelera está vacía',
  'trash.emptyHint': 'Los enlaces eliminados aparecen aquí.',
  'trash.deleted': 'Eliminado el {date}',
  'trash.deletedBy': 'Eliminado el {date} por {name}',
  'trash.left': { one: 'queda {n} día', other: 'quedan {n} días' },
  'trash.restoreOf': 'Restaurar {link}',
  'trash.purge': 'Eliminar definitivamente',
  'trash.purgeOf': 'Eliminar {link} definitivamente',
  'trash.ask': { one: '¿Eliminar {n} enlace definitivamente?', other: '¿Eliminar {n} enlaces definitivamente?' },
  'trash.askHint':
    'También se eliminan las reglas, el historial y los informes. Los clics permanecen en los totales del espacio de trabajo. No se puede deshacer.',
  'trash.purged': { one: '{n} enlace eliminado definitivamente', other: '{n} enlaces eliminados definitivamente' },
  'links.label': 'Clasificar',
  'links.labelTitle': { one: 'Clasificar {n} enlace', other: 'Clasificar {n} enlaces' },
  'links.labelHint': 'Los enlaces conservan sus demás etiquetas y grupos.',
  'links.labelled': { one: '{n} enlace modificado', other: '{n} enlaces modificados' },
  'copy.action': 'Duplicar',
  'copy.title': 'Duplicar {link}',
  'copy.hint': 'La copia tiene las mismas reglas, variantes, etiquetas y contraseña, y ningún clic.',
  'links.tagsAdd': 'Añadir etiquetas',
  'links.tagsRemove': 'Quitar etiquetas',
};
