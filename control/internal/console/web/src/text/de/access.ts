import type { access as english } from '../en/access';
import type { Translation } from '../message';

export const access: Translation<typeof english> = {
  'access.new': 'Neuer Anbieter',
  'access.none': 'Noch keine Identitätsanbieter',
  'access.noneHint': 'Mit OpenID Connect melden sich Menschen mit einem vorhandenen Konto an, etwa dem ihrer Firma.',
  'access.rules': 'Regeln für alle',
  'access.rule.factor': 'Ein zweiter Faktor ist Pflicht',
  'access.rule.factorOn':
    'Benutzer ohne zweiten Faktor können ab der nächsten Anfrage nur noch einen einrichten. Sie selbst brauchen zuerst einen. API-Schlüssel gelten weiter.',
  'access.rule.factorOff': 'Jeder Benutzer entscheidet selbst über einen zweiten Faktor.',
  'access.rule.passwords': 'Anmeldung nur über Anbieter, ohne Passwörter',
  'access.rule.passwordsOn':
    'Alle, auch Administratoren, müssen sich über einen aktiven Anbieter anmelden. Probieren Sie das zuerst aus: Schlägt es fehl, kann sich niemand anmelden. API-Schlüssel gelten weiter.',
  'access.rule.passwordsOff': 'Alle können sich zusätzlich zu den Anbietern wieder mit Passwort anmelden.',
  'access.blocked': 'Schalten Sie zuerst einen Anbieter ein.',
  'access.nameHint': 'Die Schaltfläche zum Anmelden zeigt ihn.',
  'access.slugHint': 'Teil der Rückrufadresse. Er lässt sich später nicht ändern.',
  'access.issuer': 'Aussteller',
  'access.issuerHint': 'Die Adresse des Anbieters, etwa https://example.com/realms/main',
  'access.clientId': 'Client-ID',
  'access.clientSecret': 'Client-Geheimnis',
  'access.secretKept': 'Ein Geheimnis ist gesetzt. Leer lassen, um es zu behalten.',
  'access.scopes': 'Scopes',
  'access.scopesHint': 'Durch Leerzeichen getrennt, mit openid',
  'access.domains': 'E-Mail-Domains',
  'access.domainsHint':
    'Durch Leerzeichen getrennt. Nur Adressen dieser Domains werden mit Benutzern verknüpft. Leer lassen, um alle zuzulassen.',
  'access.callback': 'Rückrufadresse, beim Anbieter einzutragen',
  'access.enabled': 'Eingeschaltet',
  'access.disabled': 'Ausgeschaltet. Neue Anmeldungen werden abgelehnt, Sitzungen laufen weiter.',
  'access.deleteHint':
    'Niemand kann sich mehr darüber anmelden, und die Verknüpfungen mit Benutzern werden gelöscht. Die Benutzer bleiben.',
  'setting.new': 'Neue Einstellung',
  'setting.none': 'Keine Einstellungen',
  'setting.noneHint': 'Alle Einstellungen haben ihre Standardwerte.',
  'setting.hint':
    'JSON-Werte nach Schlüssel, die ohne Neustart gelten. Eigene Programme können hier Werte ablegen. Die Regeln für die Anmeldung stehen unter:',
  'setting.key': 'Schlüssel',
  'setting.value': 'Wert',
  'setting.changed': 'Geändert',
  'setting.keyMissing': 'ist erforderlich',
  'setting.exists': 'ist schon vorhanden; bearbeiten Sie ihn stattdessen',
  'setting.deleteHint': 'Programme, die sie lesen, verwenden wieder ihren Standardwert.',
};
