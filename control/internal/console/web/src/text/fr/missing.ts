import type { missing as en } from '../en/missing';
import type { Translation } from '../message';

export const missing: Translation<typeof en> = {
  'missing.count': { one: '{n} slug', many: '{n} de slugs', other: '{n} slugs' },
  'missing.hint':
    'Les adresses de vos domaines que des visiteurs ont demandées et qui ne mènent nulle part, par exemple à cause d’une coquille. Créez un lien pour celles qui comptent.',
  'missing.hintAll':
    'Les adresses de tous les hôtes du service que des visiteurs ont demandées et qui ne mènent nulle part.',
  'missing.views': 'Hôtes',
  'missing.own': 'Cet espace de travail',
  'missing.all': 'Tous les hôtes',
  'missing.address': 'Adresse',
  'missing.requests': 'Requêtes',
  'missing.first': 'Première demande',
  'missing.last': 'Dernière demande',
  'missing.newOn': 'Nouveau lien sur {domain}',
  'missing.none': 'Rien ne manque',
  'missing.noneHint':
    'Personne n’a demandé en vain une adresse des domaines de cet espace de travail. Les chiffres arrivent ici en moins d’une minute. Le domaine partagé n’est pas compris.',
  'missing.noneHintAll': 'Personne n’a demandé de slug inexistant. Les chiffres arrivent ici en moins d’une minute.',
};
