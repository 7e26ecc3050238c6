import type { trash as en } from '../en/trash';
import type { Translation } from '../message';

export const trash: Translation<typeof en> = {
  'nav.trash': 'Papierkorb',
  'trash.hint': {
    one: 'Gelöschte Links lassen sich {n} Tag lang wiederherstellen.',
    other: 'Gelöschte Links lassen sich {n} Tage lang wiederherstellen.',
  },
  'trash.off': 'Dieser Server behält gelöschte Links nicht.',
  'trash.empty': 'Der Papierkorb ist leer',
  'trash.emptyHint': 'Gelöschte Links erscheinen hier.',
  'trash.deleted': 'Gelöscht {date}',
  'trash.deletedBy': 'Gelöscht {date} von {name}',
  'trash.left': { one: 'noch {n} Tag', other: 'noch {n} Tage' },
  'trash.restoreOf': '{link} wiederherstellen',
  'trash.purge': 'Endgültig löschen',
  'trash.purgeOf': '{link} endgültig löschen',
  'trash.ask': { one: '{n} Link endgültig löschen?', other: '{n} Links endgültig löschen?' },
  'trash.askHint':
    'Regeln, Verlauf und Berichte werden mitgelöscht. Die Klicks bleiben in den Summen des Arbeitsbereichs. Das lässt sich nicht rückgängig machen.',
  'trash.purged': { one: '{n} Link endgültig gelöscht', other: '{n} Links endgültig gelöscht' },
  'links.label': 'Einordnen',
  'links.labelTitle': { one: '{n} Link einordnen', other: '{n} Links einordnen' },
  'links.labelHint': 'Andere Tags und Bündel der Links bleiben.',
  'links.labelled': { one: '{n} Link geändert', other: '{n} Links geändert' },
  'copy.action': 'Duplizieren',
  'copy.title': '{link} duplizieren',
  'copy.hint': 'Die Kopie hat dieselben Regeln, Varianten, Tags und dasselbe Passwort, aber keine Klicks.',
  'links.tagsAdd': 'Tags hinzufügen',
  'links.tagsRemove': 'Tags entfernen',
};
