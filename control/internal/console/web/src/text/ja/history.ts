import type { history as english } from '../en/history';
import type { Translation } from '../message';

export const history: Translation<typeof english> = {
  'history.tab': '履歴',
  'history.earlier': '記録のある最も古い状態',
  'history.created': '作成',
  'history.updated': '変更',
  'history.deleted': 'ゴミ箱へ移動',
  'history.restored': 'ゴミ箱から復元',
  'history.rolledBack': '以前の版を復元',
  'history.before': '変更前',
  'history.after': '変更後',
  'history.fields': '変更された項目',
  'history.unknown': '日時不明',
  'history.now': '現在',
  'history.gone': '削除されたユーザー',
  'history.restore': 'この版を復元',
  'history.ask': 'この版を復元しますか？',
  'history.askHint':
    'リンク、ルール、バリエーションが {time} の状態に戻ります。スラッグ、クリック、プレビュー画像は変わりません。現在の状態も履歴に残るため、あとで戻すことができます。',
  'history.done': '復元しました。1秒以内に訪問者へ反映されます。',
  'history.part.ruleAdded': 'ルール「{name}」を追加',
  'history.part.ruleChanged': 'ルール「{name}」を変更',
  'history.part.ruleRemoved': 'ルール「{name}」を削除',
  'history.part.variantAdded': 'バリエーション「{name}」を追加',
  'history.part.variantChanged': 'バリエーション「{name}」を変更',
  'history.part.variantRemoved': 'バリエーション「{name}」を削除',
  'history.priority': '優先順位',
  'history.reach': 'その後変更され、この状態に戻るもの：',
};
