import type { keys as en } from '../en/keys';
import type { Translation } from '../message';

export const keys: Translation<typeof en> = {
  'keys.title': 'Clés d’API',
  'keys.hint':
    'Pour les programmes qui appellent l’API. Une clé vaut dans cet espace de travail, au plus avec le rôle de la personne qui l’a créée.',
  'keys.new': 'Nouvelle clé',
  'keys.none': 'Aucune clé d’API',
  'keys.noneHint':
    'Une clé permet à un programme d’appeler l’API avec vos droits, jusqu’à son expiration ou sa suppression.',
  'keys.name': 'Nom',
  'keys.nameHint': 'À quoi elle sert, par exemple le site web',
  'keys.rights': 'Droits',
  'keys.whole': 'Tous les droits',
  'keys.some': 'Seulement ceux-ci',
  'keys.missing': 'Choisissez ce que la clé peut faire.',
  'keys.all':
    'La clé peut faire tout ce que vous pouvez faire dans cet espace, sauf les réglages de sécurité comme les mots de passe.',
  'keys.allAdmin':
    'La clé peut faire tout ce que vous pouvez faire, aussi avec les objets de tous les utilisateurs, sauf les réglages de sécurité comme les mots de passe.',
  'keys.everything': 'tout',
  'keys.by': 'créée par {name}',
  'keys.addresses': 'Adresses autorisées',
  'keys.addressesHint': 'Adresses ou réseaux, comme 203.0.113.0/24. Laissez vide pour toutes.',
  'keys.expires': 'Expire',
  'keys.expiresHint':
    'Dans votre fuseau horaire. Laissez vide pour aucune expiration, ou pour la durée maximale permise.',
  'keys.create': 'Créer la clé',
  'keys.made': '{name} est prête',
  'keys.once': 'Copiez la clé maintenant. Elle ne sera plus affichée.',
  'keys.key': 'Clé d’API',
  'keys.kept': 'Je l’ai copiée',
  'keys.used': 'Dernière utilisation',
  'keys.never': 'jamais',
  'keys.neverUsed': 'Elle n’a jamais été utilisée.',
  'keys.lastUsed': 'Elle a été utilisée pour la dernière fois le {date}.',
  'keys.legacy': 'Ancienne forme',
  'keys.legacyHint': {
    one: '{n} clé a l’ancienne forme, que les détecteurs de secrets ne reconnaissent pas. Renouvelez-la ; d’ici là, elle garde ses droits.',
    many: '{n} de clés ont l’ancienne forme, que les détecteurs de secrets ne reconnaissent pas. Renouvelez-les ; d’ici là, elles gardent leurs droits.',
    other:
      '{n} clés ont l’ancienne forme, que les détecteurs de secrets ne reconnaissent pas. Renouvelez-les ; d’ici là, elles gardent leurs droits.',
  },
  'keys.expired': 'Expirée',
  'keys.ask.rotate': 'Renouveler',
  'keys.rotateOne': 'Renouveler {name}',
  'keys.ask.rotateTitle': 'Renouveler {name} ?',
  'keys.ask.rotateHint':
    'La clé reçoit un nouveau secret. Les programmes avec l’ancien perdent l’accès aussitôt. Droits et adresses restent.',
  'keys.ask.delete': 'Supprimer',
  'keys.deleteOne': 'Supprimer {name}',
  'keys.ask.deleteTitle': 'Supprimer {name} ?',
  'keys.ask.deleteHint': 'Les programmes qui l’utilisent perdent l’accès aussitôt.',
  'keys.deleted': '{name} supprimée',
  'keys.scope.links:read': 'Lire les liens',
  'keys.scope.links:write': 'Lire et modifier les liens',
  'keys.scope.analytics:read': 'Lire les rapports',
  'keys.scope.conversions:write': 'Envoyer des conversions',
  'keys.scope.webhooks': 'Gérer les webhooks',
  'keys.scope.domains': 'Gérer les domaines',
  'keys.scope.members': 'Gérer les membres',
};
