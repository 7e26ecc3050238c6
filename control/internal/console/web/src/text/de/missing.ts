import type { missing as en } from '../en/missing';
import type { Translation } from '../message';

export const missing: Translation<typeof en> = {
  'missing.count': { one: '{n} Kürzel', other: '{n} Kürzel' },
  'missing.hint':
    'Adressen auf Ihren Domains, die Besucher aufgerufen haben und die ins Leere führen, etwa wegen Druckfehlern. Legen Sie Links für die wichtigen an.',
  'missing.hintAll': 'Adressen auf allen Hosts des Dienstes, die Besucher aufgerufen haben und die ins Leere führen.',
  'missing.views': 'Hosts',
  'missing.own': 'Dieser Arbeitsbereich',
  'missing.all': 'Alle Hosts',
  'missing.address': 'Adresse',
  'missing.requests': 'Aufrufe',
  'missing.first': 'Zuerst aufgerufen',
  'missing.last': 'Zuletzt aufgerufen',
  'missing.newOn': 'Neuer Link auf {domain}',
  'missing.none': 'Nichts fehlt',
  'missing.noneHint':
    'Niemand hat auf den Domains dieses Arbeitsbereichs vergeblich eine Adresse aufgerufen. Zahlen erscheinen hier innerhalb einer Minute. Die gemeinsame Domain gehört nicht dazu.',
  'missing.noneHintAll':
    'Niemand hat ein Kürzel aufgerufen, das es nicht gibt. Zahlen erscheinen hier innerhalb einer Minute.',
};
