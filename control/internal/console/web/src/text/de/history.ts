import type { history as english } from '../en/history';
import type { Translation } from '../message';

export const history: Translation<typeof english> = {
  'history.tab': 'Verlauf',
  'history.earlier': 'Ältester bekannter Stand',
  'history.created': 'Erstellt',
  'history.updated': 'Geändert',
  'history.deleted': 'In den Papierkorb verschoben',
  'history.restored': 'Aus dem Papierkorb geholt',
  'history.rolledBack': 'Frühere Version wiederhergestellt',
  'history.before': 'Vorher',
  'history.after': 'Nachher',
  'history.fields': 'Geänderte Felder',
  'history.unknown': 'unbekannte Zeit',
  'history.now': 'Aktuell',
  'history.gone': 'ein gelöschter Benutzer',
  'history.restore': 'Diese Version wiederherstellen',
  'history.ask': 'Diese Version wiederherstellen?',
  'history.askHint':
    'Der Link, seine Regeln und seine Varianten erhalten den Stand vom {time}. Kürzel, Klicks und Vorschaubild bleiben, wie sie sind. Der Verlauf behält den jetzigen Stand, sodass Sie zu ihm zurückkehren können.',
  'history.done': 'Wiederhergestellt. Besucher erhalten diese Version innerhalb einer Sekunde.',
  'history.part.ruleAdded': 'Regel „{name}“ hinzugefügt',
  'history.part.ruleChanged': 'Regel „{name}“ geändert',
  'history.part.ruleRemoved': 'Regel „{name}“ entfernt',
  'history.part.variantAdded': 'Variante „{name}“ hinzugefügt',
  'history.part.variantChanged': 'Variante „{name}“ geändert',
  'history.part.variantRemoved': 'Variante „{name}“ entfernt',
  'history.priority': 'Priorität',
  'history.reach': 'Das hat sich seitdem geändert und kehrt zu diesem Stand zurück:',
};
