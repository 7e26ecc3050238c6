import type { palette as en } from '../en/palette';
import type { Translation } from '../message';

export const palette: Translation<typeof en> = {
  'palette.title': 'بحث وانتقال',
  'palette.search': 'رابط أو صفحة أو إجراء',
  'palette.results': 'النتائج',
  'palette.nothing': 'لا توجد نتائج',
  'palette.workIn': 'الانتقال إلى {name}',
  'palette.theme': 'المظهر: {name}',
  'palette.language': 'اللغة: {name}',
  'palette.keys': 'اختصارات لوحة المفاتيح',
};
