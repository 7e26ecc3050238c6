import type { social as english } from '../en/social';
import type { Translation } from '../message';

export const social: Translation<typeof english> = {
  'social.title': 'Vorschau in sozialen Netzen',
  'social.hint': 'Netzwerke und Messenger zeigen sie. Ohne diese Felder zeigen sie die Vorschau des Ziels.',
  'social.ogTitle': 'Titel der Vorschau',
  'social.ogDescription': 'Beschreibung der Vorschau',
  'social.layout': 'Darstellung',
  'social.auto': 'Groß mit Bild, sonst klein',
  'social.large': 'Groß',
  'social.small': 'Klein',
  'social.image': 'Bild',
  'social.imageHint': 'JPEG, PNG, WebP oder GIF bis 10 MB, am besten 1200 × 630 Pixel. Es wird sofort gespeichert.',
  'social.remove': 'Bild entfernen',
  'social.look': 'Vorschau',
};
