import type { trash as en } from '../en/trash';
import type { Translation } from '../message';

export const trash: Translation<typeof en> = {
  'nav.trash': 'Corbeille',
  'trash.hint': {
    one: 'Les liens supprimés peuvent être restaurés pendant {n} jour.',
    other: 'Les liens supprimés peuvent être restaurés pendant {n} jours.',
  },
  'trash.off': 'Ce serveur ne conserve pas les liens supprimés.',
  'trash.empty': 'La corbeille est vide',
  'trash.emptyHint': 'Les liens supprimés apparaissent ici.',
  'trash.deleted': 'Supprimé le {date}',
  'trash.deletedBy': 'Supprimé le {date} par {name}',
  'trash.left': { one: '{n} jour restant', other: '{n} jours restants' },
  'trash.restoreOf': 'Restaurer {link}',
  'trash.purge': 'Supprimer définitivement',
  'trash.purgeOf': 'Supprimer définitivement {link}',
  'trash.ask': { one: 'Supprimer définitivement {n} lien ?', other: 'Supprimer définitivement {n} liens ?' },
  'trash.askHint':
    'Les règles, l’historique et les rapports sont aussi supprimés. Les clics restent dans les totaux de l’espace de travail. Cette action est irréversible.',
  'trash.purged': { one: '{n} lien supprimé définitivement', other: '{n} liens supprimés définitivement' },
  'links.label': 'Classer',
  'links.labelTitle': { one: 'Classer {n} lien', other: 'Classer {n} liens' },
  'links.labelHint': 'Les liens gardent leurs autres étiquettes et groupes.',
  'links.labelled': { one: '{n} lien modifié', other: '{n} liens modifiés' },
  'copy.action': 'Dupliquer',
  'copy.title': 'Dupliquer {link}',
  'copy.hint': 'La copie a les mêmes règles, variantes, étiquettes et mot de passe, et aucun clic.',
  'links.tagsAdd': 'Ajouter des étiquettes',
  'links.tagsRemove': 'Retirer des étiquettes',
};
