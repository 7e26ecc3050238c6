import type { access as english } from '../en/access';
import type { Translation } from '../message';

export const access: Translation<typeof english> = {
  'access.new': 'Nuevo proveedor',
  'access.none': 'Aún no hay proveedores de identidad',
  'access.noneHint': 'Con OpenID Connect, las personas acceden con una cuenta que ya tienen, como la de su empresa.',
  'access.rules': 'Reglas para todos',
  'access.rule.factor': 'Se exige un segundo factor',
  'access.rule.factorOn':
    'Desde su próxima solicitud, los usuarios sin segundo factor solo pueden configurarlo. Usted necesita uno primero. Las claves de API siguen funcionando.',
  'access.rule.factorOff': 'Cada usuario decide si usa un segundo factor.',
  'access.rule.passwords': 'Acceso solo mediante proveedores, sin contraseñas',
  'access.rule.passwordsOn':
    'Todos, también los administradores, deben acceder mediante un proveedor activo. Pruébelo antes: si falla, nadie podrá acceder. Las claves de API siguen funcionando.',
  'access.rule.passwordsOff': 'Todos pueden volver a acceder con contraseña, además de los proveedores.',
  'access.blocked': 'Active antes un proveedor.',
  'access.nameHint': 'Se muestra en el botón de acceso.',
  'access.slugHint': 'Parte de la dirección de retorno. No se puede cambiar después.',
  'access.issuer': 'Emisor',
  'access.issuerHint': 'La dirección del proveedor, como https://example.com/realms/main',
  'access.clientId': 'ID de cliente',
  'access.clientSecret': 'Secreto de cliente',
  'access.secretKept': 'Hay un secreto guardado. Déjelo vacío para conservarlo.',
  'access.scopes': 'Ámbitos',
  'access.scopesHint': 'Separados por espacios, con openid',
  'access.domains': 'Dominios de correo',
  'access.domainsHint':
    'Separados por espacios. Solo las direcciones de estos dominios se vinculan a usuarios. Déjelo vacío para permitir todos.',
  'access.callback': 'Dirección de retorno, para registrar en el proveedor',
  'access.enabled': 'Activado',
  'access.disabled': 'Desactivado. Se rechazan nuevos accesos; las sesiones continúan.',
  'access.deleteHint': 'Nadie podrá acceder por él y se eliminan sus vínculos con usuarios. Los usuarios permanecen.',
  'setting.new': 'Nuevo ajuste',
  'setting.none': 'Sin ajustes',
  'setting.noneHint': 'Todos los ajustes tienen sus valores predeterminados.',
  'setting.hint':
    'Valores JSON por clave, que se aplican sin reiniciar. Sus programas pueden guardar valores aquí. Las reglas de acceso están en:',
  'setting.key': 'Clave',
  'setting.value': 'Valor',
  'setting.changed': 'Modificado',
  'setting.keyMissing': 'es obligatorio',
  'setting.exists': 'ya existe; edítelo',
  'setting.deleteHint': 'Los programas que lo leen vuelven a su valor predeterminado.',
};
