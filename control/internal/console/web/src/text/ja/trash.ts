import type { trash as en } from '../en/trash';
import type { Translation } from '../message';

export const trash: Translation<typeof en> = {
  'nav.trash': 'ゴミ箱',
  'trash.hint': { other: '削除したリンクは{n}日間復元できます。' },
  'trash.off': 'このサーバーは削除したリンクを保存しません。',
  'trash.empty': 'ゴミ箱は空です',
  'trash.emptyHint': '削除したリンクがここに表示されます。',
  'trash.deleted': '{date}に削除',
  'trash.deletedBy': '{date}に{name}が削除',
  'trash.left': { other: '残り{n}日' },
  'trash.restoreOf': '{link}を復元',
  'trash.purge': '完全に削除',
  'trash.purgeOf': '{link}を完全に削除',
  'trash.ask': { other: '{n}件のリンクを完全に削除しますか？' },
  'trash.askHint':
    'ルール、履歴、レポートも削除されます。クリック数はワークスペースの合計に残ります。この操作は元に戻せません。',
  'trash.purged': { other: '{n}件のリンクを完全に削除しました' },
  'links.label': '分類',
  'links.labelTitle': { other: '{n}件のリンクを分類' },
  'links.labelHint': 'その他のタグとバンドルはそのまま残ります。',
  'links.labelled': { other: '{n}件のリンクを変更しました' },
  'copy.action': '複製',
  'copy.title': '{link}を複製',
  'copy.hint': '複製は同じルール、バリアント、タグ、パスワードを持ち、クリック数は0から始まります。',
  'links.tagsAdd': 'タグを追加',
  'links.tagsRemove': 'タグを外す',
};
