import type { history as english } from '../en/history';
import type { Translation } from '../message';

export const history: Translation<typeof english> = {
  'history.tab': 'السجل',
  'history.earlier': 'أقدم حالة معروفة',
  'history.created': 'أُنشئ',
  'history.updated': 'عُدّل',
  'history.deleted': 'نُقل إلى سلة المهملات',
  'history.restored': 'استُعيد من سلة المهملات',
  'history.rolledBack': 'استُعيدت نسخة سابقة',
  'history.before': 'قبل',
  'history.after': 'بعد',
  'history.fields': 'الحقول المعدّلة',
  'history.unknown': 'وقت غير معروف',
  'history.now': 'الحالية',
  'history.gone': 'مستخدم محذوف',
  'history.restore': 'استعادة هذه النسخة',
  'history.ask': 'هل تريد استعادة هذه النسخة؟',
  'history.askHint':
    'يعود الرابط وقواعده ومتغيراته إلى حالة {time}. لا يتغير الاسم اللطيف ولا النقرات ولا صورة المعاينة. يحتفظ السجل بالحالة الحالية، لذا يمكنك العودة إليها.',
  'history.done': 'تمت الاستعادة. يحصل الزوار على هذه النسخة خلال ثانية.',
  'history.part.ruleAdded': 'أُضيفت القاعدة «{name}»',
  'history.part.ruleChanged': 'عُدّلت القاعدة «{name}»',
  'history.part.ruleRemoved': 'أُزيلت القاعدة «{name}»',
  'history.part.variantAdded': 'أُضيف المتغير «{name}»',
  'history.part.variantChanged': 'عُدّل المتغير «{name}»',
  'history.part.variantRemoved': 'أُزيل المتغير «{name}»',
  'history.priority': 'الأولوية',
  'history.reach': 'تغيّر ما يلي منذ ذلك الحين وسيعود إلى تلك الحالة:',
};
