import type { missing as en } from '../en/missing';
import type { Translation } from '../message';

export const missing: Translation<typeof en> = {
  'missing.count': {
    zero: 'لا أسماء',
    one: 'اسم واحد',
    two: 'اسمان',
    few: '{n} أسماء',
    many: '{n} اسمًا',
    other: '{n} اسم',
  },
  'missing.hint': 'عناوين على نطاقاتك طلبها الزوار ولا تؤدي إلى أي مكان، بسبب خطأ مطبعي مثلًا. أنشئ روابط للمهم منها.',
  'missing.hintAll': 'عناوين على جميع مضيفي الخدمة طلبها الزوار ولا تؤدي إلى أي مكان.',
  'missing.views': 'المضيفون',
  'missing.own': 'مساحة العمل هذه',
  'missing.all': 'جميع المضيفين',
  'missing.address': 'العنوان',
  'missing.requests': 'الطلبات',
  'missing.first': 'أول طلب',
  'missing.last': 'آخر طلب',
  'missing.newOn': 'رابط جديد على {domain}',
  'missing.none': 'لا شيء مفقود',
  'missing.noneHint':
    'لم يطلب أحد عبثًا عنوانًا على نطاقات مساحة العمل هذه. تصل الأرقام إلى هنا خلال دقيقة. النطاق المشترك غير مشمول.',
  'missing.noneHintAll': 'لم يطلب أحد اسمًا غير موجود. تصل الأرقام إلى هنا خلال دقيقة.',
};
