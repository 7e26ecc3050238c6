import type { access as english } from '../en/access';
import type { Translation } from '../message';

export const access: Translation<typeof english> = {
  'access.new': 'Nouveau fournisseur',
  'access.none': 'Aucun fournisseur d’identité',
  'access.noneHint': 'Avec OpenID Connect, chacun se connecte avec un compte existant, comme celui de son entreprise.',
  'access.rules': 'Règles pour tous',
  'access.rule.factor': 'Un second facteur est obligatoire',
  'access.rule.factorOn':
    'Dès leur prochaine requête, les utilisateurs sans second facteur ne peuvent plus que le configurer. Vous devez d’abord en avoir un. Les clés d’API continuent de fonctionner.',
  'access.rule.factorOff': 'Chaque utilisateur choisit s’il veut un second facteur.',
  'access.rule.passwords': 'Connexion uniquement par un fournisseur, sans mot de passe',
  'access.rule.passwordsOn':
    'Tous, administrateurs compris, doivent passer par un fournisseur actif. Essayez d’abord : en cas d’échec, plus personne ne peut se connecter. Les clés d’API continuent de fonctionner.',
  'access.rule.passwordsOff': 'Tous peuvent de nouveau se connecter par mot de passe, en plus des fournisseurs.',
  'access.blocked': 'Activez d’abord un fournisseur.',
  'access.nameHint': 'Affiché sur le bouton de connexion.',
  'access.slugHint': 'Partie de l’adresse de rappel. Il ne peut plus être modifié.',
  'access.issuer': 'Émetteur',
  'access.issuerHint': 'L’adresse du fournisseur, par exemple https://example.com/realms/main',
  'access.clientId': 'ID client',
  'access.clientSecret': 'Secret client',
  'access.secretKept': 'Un secret est défini. Laissez vide pour le conserver.',
  'access.scopes': 'Portées',
  'access.scopesHint': 'Séparées par des espaces, avec openid',
  'access.domains': 'Domaines de messagerie',
  'access.domainsHint':
    'Séparés par des espaces. Seules les adresses de ces domaines sont liées à des utilisateurs. Laissez vide pour tous les autoriser.',
  'access.callback': 'Adresse de rappel, à enregistrer chez le fournisseur',
  'access.enabled': 'Activé',
  'access.disabled': 'Désactivé. Les nouvelles connexions sont refusées, les sessions continuent.',
  'access.deleteHint':
    'Plus personne ne peut se connecter par ce fournisseur et ses liens avec les utilisateurs sont supprimés. Les utilisateurs restent.',
  'setting.new': 'Nouveau réglage',
  'setting.none': 'Aucun réglage',
  'setting.noneHint': 'Tous les réglages ont leur valeur par défaut.',
  'setting.hint':
    'Des valeurs JSON par clé, appliquées sans redémarrage. Vos programmes peuvent y conserver des valeurs. Les règles de connexion se trouvent ici :',
  'setting.key': 'Clé',
  'setting.value': 'Valeur',
  'setting.changed': 'Modifié',
  'setting.keyMissing': 'est obligatoire',
  'setting.exists': 'existe déjà ; modifiez-le plutôt',
  'setting.deleteHint': 'Les programmes qui le lisent reprennent leur valeur par défaut.',
};
