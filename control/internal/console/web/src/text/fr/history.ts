import type { history as english } from '../en/history';
import type { Translation } from '../message';

export const history: Translation<typeof english> = {
  'history.tab': 'Historique',
  'history.earlier': 'Plus ancien état connu',
  'history.created': 'Créé',
  'history.updated': 'Modifié',
  'history.deleted': 'Placé dans la corbeille',
  'history.restored': 'Restauré depuis la corbeille',
  'history.rolledBack': 'Version antérieure restaurée',
  'history.before': 'Avant',
  'history.after': 'Après',
  'history.fields': 'Champs modifiés',
  'history.unknown': 'date inconnue',
  'history.now': 'Actuelle',
  'history.gone': 'un utilisateur supprimé',
  'history.restore': 'Restaurer cette version',
  'history.ask': 'Restaurer cette version ?',
  'history.askHint':
    'Le lien, ses règles et ses variantes reprennent leur état du {time}. Le slug, les clics et l’image d’aperçu ne changent pas. L’historique conserve l’état actuel, vous pourrez donc y revenir.',
  'history.done': 'Version restaurée. Les visiteurs la reçoivent en moins d’une seconde.',
  'history.part.ruleAdded': 'Règle « {name} » ajoutée',
  'history.part.ruleChanged': 'Règle « {name} » modifiée',
  'history.part.ruleRemoved': 'Règle « {name} » supprimée',
  'history.part.variantAdded': 'Variante « {name} » ajoutée',
  'history.part.variantChanged': 'Variante « {name} » modifiée',
  'history.part.variantRemoved': 'Variante « {name} » supprimée',
  'history.priority': 'Priorité',
  'history.reach': 'Ces éléments ont changé depuis et reviennent à cet état :',
};
