import type { keys as en } from '../en/keys';
import type { Translation } from '../message';

export const keys: Translation<typeof en> = {
  'keys.title': 'API-Schlüssel',
  'keys.hint':
    'Für Programme, die die API aufrufen. Ein Schlüssel gilt in diesem Arbeitsbereich, höchstens mit der Rolle der Person, die ihn angelegt hat.',
  'keys.new': 'Neuer Schlüssel',
  'keys.none': 'Keine API-Schlüssel',
  'keys.noneHint':
    'Mit einem Schlüssel ruft ein Programm die API mit Ihren Rechten auf, bis er abläuft oder Sie ihn löschen.',
  'keys.name': 'Name',
  'keys.nameHint': 'Wofür er ist, etwa die Website',
  'keys.rights': 'Rechte',
  'keys.whole': 'Alle Rechte',
  'keys.some': 'Nur diese',
  'keys.missing': 'Wählen Sie, was der Schlüssel darf.',
  'keys.all':
    'Der Schlüssel darf alles, was Sie in diesem Arbeitsbereich dürfen, außer Sicherheitseinstellungen wie Passwörter.',
  'keys.allAdmin':
    'Der Schlüssel darf alles, was Sie dürfen, auch mit den Objekten aller Benutzer, außer Sicherheitseinstellungen wie Passwörter.',
  'keys.everything': 'alles',
  'keys.by': 'angelegt von {name}',
  'keys.addresses': 'Erlaubte Adressen',
  'keys.addressesHint': 'Adressen oder Netze, etwa 203.0.113.0/24. Leer lassen für alle.',
  'keys.expires': 'Läuft ab',
  'keys.expiresHint': 'In Ihrer Zeitzone. Leer lassen für kein Ablaufdatum oder für die längste erlaubte Dauer.',
  'keys.create': 'Schlüssel anlegen',
  'keys.made': '{name} ist bereit',
  'keys.once': 'Kopieren Sie den Schlüssel jetzt. Er wird nicht wieder angezeigt.',
  'keys.key': 'API-Schlüssel',
  'keys.kept': 'Ich habe ihn kopiert',
  'keys.used': 'Zuletzt benutzt',
  'keys.never': 'nie',
  'keys.neverUsed': 'Er wurde nie benutzt.',
  'keys.lastUsed': 'Er wurde zuletzt am {date} benutzt.',
  'keys.legacy': 'Alte Form',
  'keys.legacyHint': {
    one: '{n} Schlüssel hat die alte Form, die Geheimnis-Scanner nicht erkennen. Erneuern Sie ihn; bis dahin behält er seine Rechte.',
    other:
      '{n} Schlüssel haben die alte Form, die Geheimnis-Scanner nicht erkennen. Erneuern Sie sie; bis dahin behalten sie ihre Rechte.',
  },
  'keys.expired': 'Abgelaufen',
  'keys.ask.rotate': 'Erneuern',
  'keys.rotateOne': '{name} erneuern',
  'keys.ask.rotateTitle': '{name} erneuern?',
  'keys.ask.rotateHint':
    'Der Schlüssel bekommt ein neues Geheimnis. Programme mit dem alten verlieren sofort den Zugang. Rechte und Adressen bleiben.',
  'keys.ask.delete': 'Löschen',
  'keys.deleteOne': '{name} löschen',
  'keys.ask.deleteTitle': '{name} löschen?',
  'keys.ask.deleteHint': 'Programme, die ihn benutzen, verlieren sofort den Zugang.',
  'keys.deleted': '{name} gelöscht',
  'keys.scope.links:read': 'Links lesen',
  'keys.scope.links:write': 'Links lesen und ändern',
  'keys.scope.analytics:read': 'Auswertungen lesen',
  'keys.scope.conversions:write': 'Conversions senden',
  'keys.scope.webhooks': 'Webhooks verwalten',
  'keys.scope.domains': 'Domains verwalten',
  'keys.scope.members': 'Mitglieder verwalten',
};
