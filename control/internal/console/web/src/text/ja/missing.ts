import type { missing as en } from '../en/missing';
import type { Translation } from '../message';

export const missing: Translation<typeof en> = {
  'missing.count': { other: 'スラッグ {n} 件' },
  'missing.hint':
    '訪問者がアクセスしたものの、リンクが存在しなかったドメイン上のアドレスです（印刷ミスなど）。必要なものにはリンクを作成してください。',
  'missing.hintAll':
    '訪問者がアクセスしたものの、リンクが存在しなかったアドレスです。サービスのすべてのホストが対象です。',
  'missing.views': 'ホスト',
  'missing.own': 'このワークスペース',
  'missing.all': 'すべてのホスト',
  'missing.address': 'アドレス',
  'missing.requests': 'リクエスト',
  'missing.first': '最初のアクセス',
  'missing.last': '最後のアクセス',
  'missing.newOn': '{domain} の新しいリンク',
  'missing.none': '存在しないリンクはありません',
  'missing.noneHint':
    'このワークスペースのドメインで、存在しないアドレスにアクセスした人はいません。数値は 1 分以内に反映されます。共有ドメインは含まれません。',
  'missing.noneHintAll': '存在しないスラッグにアクセスした人はいません。数値は 1 分以内に反映されます。',
};
