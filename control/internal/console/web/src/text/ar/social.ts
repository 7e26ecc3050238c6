import type { social as english } from '../en/social';
import type { Translation } from '../message';

export const social: Translation<typeof english> = {
  'social.title': 'معاينة الشبكات الاجتماعية',
  'social.hint': 'تعرضها الشبكات وتطبيقات المراسلة. دون هذه الحقول تعرض معاينة الوجهة.',
  'social.ogTitle': 'عنوان المعاينة',
  'social.ogDescription': 'وصف المعاينة',
  'social.layout': 'التخطيط',
  'social.auto': 'كبير مع صورة، وإلا صغير',
  'social.large': 'كبير',
  'social.small': 'صغير',
  'social.image': 'الصورة',
  'social.imageHint': 'JPEG أو PNG أو WebP أو GIF حتى 10 ميغابايت، والأفضل 1200 × 630 بكسل. تُحفظ فورًا.',
  'social.remove': 'إزالة الصورة',
  'social.look': 'معاينة',
};
