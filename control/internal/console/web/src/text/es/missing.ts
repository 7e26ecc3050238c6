import type { missing as en } from '../en/missing';
import type { Translation } from '../message';

export const missing: Translation<typeof en> = {
  'missing.count': { one: '{n} slug', many: '{n} de slugs', other: '{n} slugs' },
  'missing.hint':
    'Direcciones de tus dominios que alguien ha pedido y que no llevan a ninguna parte, por ejemplo, por una errata. Crea un enlace para las que importen.',
  'missing.hintAll':
    'Direcciones de todos los hosts del servicio que alguien ha pedido y que no llevan a ninguna parte.',
  'missing.views': 'Hosts',
  'missing.own': 'Este espacio de trabajo',
  'missing.all': 'Todos los hosts',
  'missing.address': 'Dirección',
  'missing.requests': 'Solicitudes',
  'missing.first': 'Primera solicitud',
  'missing.last': 'Última solicitud',
  'missing.newOn': 'Nuevo enlace en {domain}',
  'missing.none': 'No falta nada',
  'missing.noneHint':
    'Nadie ha pedido en vano una dirección de los dominios de este espacio de trabajo. Las cifras llegan aquí en menos de un minuto. El dominio compartido no está incluido.',
  'missing.noneHintAll': 'Nadie ha pedido un slug que no exista. Las cifras llegan aquí en menos de un minuto.',
};
