import type { access as english } from '../en/access';
import type { Translation } from '../message';

export const access: Translation<typeof english> = {
  'access.new': 'プロバイダーを追加',
  'access.none': 'IDプロバイダーはまだありません',
  'access.noneHint': 'OpenID Connect を使うと、会社のアカウントなど既存のアカウントでログインできます。',
  'access.rules': '全員に適用されるルール',
  'access.rule.factor': '2段階認証を必須にする',
  'access.rule.factorOn':
    '2段階認証のないユーザーは、次の操作から設定画面しか使えなくなります。先に自分の設定が必要です。APIキーは引き続き使えます。',
  'access.rule.factorOff': '2段階認証を使うかどうかは各ユーザーが決めます。',
  'access.rule.passwords': 'ログインはプロバイダー経由のみ（パスワードなし）',
  'access.rule.passwordsOn':
    '管理者を含む全員が、有効なプロバイダー経由でログインする必要があります。先に試してください。失敗すると誰もログインできません。APIキーは引き続き使えます。',
  'access.rule.passwordsOff': 'プロバイダーに加えて、再びパスワードでもログインできるようになります。',
  'access.blocked': '先にプロバイダーを有効にしてください。',
  'access.nameHint': 'ログインボタンに表示されます。',
  'access.slugHint': 'コールバックアドレスの一部です。後から変更できません。',
  'access.issuer': '発行者',
  'access.issuerHint': 'プロバイダーのアドレス（例: https://example.com/realms/main）',
  'access.clientId': 'クライアントID',
  'access.clientSecret': 'クライアントシークレット',
  'access.secretKept': 'シークレットは設定済みです。変更しない場合は空欄にしてください。',
  'access.scopes': 'スコープ',
  'access.scopesHint': '空白区切り。openid が必要です',
  'access.domains': 'メールドメイン',
  'access.domainsHint': '空白区切り。これらのドメインのアドレスだけがユーザーに紐づきます。空欄ならすべて許可します。',
  'access.callback': 'コールバックアドレス（プロバイダーに登録）',
  'access.enabled': '有効にしました',
  'access.disabled': '無効にしました。新しいログインは拒否され、既存のセッションは続きます。',
  'access.deleteHint': '今後このプロバイダーではログインできず、ユーザーとの紐づけも削除されます。ユーザーは残ります。',
  'setting.new': '設定を追加',
  'setting.none': '設定はありません',
  'setting.noneHint': 'すべて既定値です。',
  'setting.hint':
    'キーごとの JSON 値です。再起動なしで反映されます。独自のプログラムの値も保存できます。ログインのルールはこちら:',
  'setting.key': 'キー',
  'setting.value': '値',
  'setting.changed': '変更日時',
  'setting.keyMissing': '必須です',
  'setting.exists': 'すでに存在します。編集してください',
  'setting.deleteHint': 'この値を読むプログラムは既定値に戻ります。',
};
