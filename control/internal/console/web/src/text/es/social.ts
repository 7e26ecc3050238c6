import type { social as english } from '../en/social';
import type { Translation } from '../message';

export const social: Translation<typeof english> = {
  'social.title': 'Vista previa en redes',
  'social.hint': 'La muestran redes y mensajería. Sin estos campos, muestran la vista previa del destino.',
  'social.ogTitle': 'Título de la vista previa',
  'social.ogDescription': 'Descripción de la vista previa',
  'social.layout': 'Formato',
  'social.auto': 'Grande con imagen, si no pequeño',
  'social.large': 'Grande',
  'social.small': 'Pequeño',
  'social.image': 'Imagen',
  'social.imageHint': 'JPEG, PNG, WebP o GIF de 10 MB como máximo, mejor 1200 × 630 píxeles. Se guarda al momento.',
  'social.remove': 'Quitar la imagen',
  'social.look': 'Vista previa',
};
