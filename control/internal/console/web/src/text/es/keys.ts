import type { keys as en } from '../en/keys';
import type { Translation } from '../message';

export const keys: Translation<typeof en> = {
  'keys.title': 'Claves de API',
  'keys.hint':
    'Para programas que llaman a la API. Una clave vale en este espacio de trabajo, como mucho con el rol de quien la creó.',
  'keys.new': 'Nueva clave',
  'keys.none': 'Sin claves de API',
  'keys.noneHint': 'Una clave permite que un programa llame a la API con sus permisos, hasta que caduque o la elimine.',
  'keys.name': 'Nombre',
  'keys.nameHint': 'Para qué es, por ejemplo el sitio web',
  'keys.rights': 'Permisos',
  'keys.all':
    'Sin elección, la clave puede hacer todo lo que usted puede en este espacio, salvo ajustes de seguridad como contraseñas y otras claves.',
  'keys.allAdmin':
    'Sin elección, la clave puede hacer todo lo que usted puede, también con los objetos de todos los usuarios, salvo ajustes de seguridad como contraseñas y otras claves.',
  'keys.everything': 'todo',
  'keys.by': 'creada por {name}',
  'keys.addresses': 'Direcciones permitidas',
  'keys.addressesHint': 'Direcciones o redes, como 203.0.113.0/24. Déjelo vacío para todas.',
  'keys.expires': 'Caduca',
  'keys.expiresHint': 'En su zona horaria. Déjelo vacío para que no caduque, o para la duración máxima permitida.',
  'keys.create': 'Crear la clave',
  'keys.made': '{name} está lista',
  'keys.once': 'Copie la clave ahora. No se vuelve a mostrar.',
  'keys.key': 'Clave de API',
  'keys.kept': 'La he copiado',
  'keys.used': 'Último uso',
  'keys.never': 'nunca',
  'keys.neverUsed': 'No se ha usado nunca.',
  'keys.lastUsed': 'Se usó por última vez el {date}.',
  'keys.legacy': 'Forma antigua',
  'keys.legacyHint': {
    one: '{n} clave tiene la forma antigua, que los detectores de secretos no reconocen. Renuévela; hasta entonces conserva sus permisos.',
    many: '{n} de claves tienen la forma antigua, que los detectores de secretos no reconocen. Renuévelas; hasta entonces conservan sus permisos.',
    other:
      '{n} claves tienen la forma antigua, que los detectores de secretos no reconocen. Renuévelas; hasta entonces conservan sus permisos.',
  },
  'keys.expired': 'Caducada',
  'keys.rotate': 'Renovar',
  'keys.rotateOne': 'Renovar {name}',
  'keys.rotateTitle': '¿Renovar {name}?',
  'keys.rotateHint':
    'La clave recibe un secreto nuevo. Los programas con el anterior pierden el acceso de inmediato. Permisos y direcciones se conservan.',
  'keys.delete': 'Eliminar',
  'keys.deleteOne': 'Eliminar {name}',
  'keys.deleteTitle': '¿Eliminar {name}?',
  'keys.deleteHint': 'Los programas que la usan pierden el acceso de inmediato.',
  'keys.deleted': '{name} eliminada',
  'keys.scope.links:read': 'Leer enlaces',
  'keys.scope.links:write': 'Leer y cambiar enlaces',
  'keys.scope.analytics:read': 'Leer informes',
  'keys.scope.conversions:write': 'Enviar conversiones',
  'keys.scope.webhooks': 'Gestionar webhooks',
  'keys.scope.domains': 'Gestionar dominios',
  'keys.scope.members': 'Gestionar miembros',
};
