import type { social as english } from '../en/social';
import type { Translation } from '../message';

export const social: Translation<typeof english> = {
  'social.title': 'Aperçu sur les réseaux',
  'social.hint': 'Les réseaux et messageries l’affichent. Sans ces champs, ils montrent l’aperçu de la destination.',
  'social.ogTitle': 'Titre de l’aperçu',
  'social.ogDescription': 'Description de l’aperçu',
  'social.layout': 'Présentation',
  'social.auto': 'Grande avec une image, sinon petite',
  'social.large': 'Grande',
  'social.small': 'Petite',
  'social.image': 'Image',
  'social.imageHint':
    'JPEG, PNG, WebP ou GIF de 10 Mo au plus, idéalement 1200 × 630 pixels. Elle est enregistrée aussitôt.',
  'social.remove': 'Supprimer l’image',
  'social.look': 'Aperçu',
};
