import type { social as english } from '../en/social';
import type { Translation } from '../message';

export const social: Translation<typeof english> = {
  'social.title': 'SNSプレビュー',
  'social.hint': 'SNSやメッセンジャーに表示されます。入力しない場合はリンク先のプレビューが表示されます。',
  'social.ogTitle': 'プレビューのタイトル',
  'social.ogDescription': 'プレビューの説明',
  'social.layout': 'レイアウト',
  'social.auto': '画像があれば大、なければ小',
  'social.large': '大',
  'social.small': '小',
  'social.image': '画像',
  'social.imageHint': '10 MB までの JPEG、PNG、WebP、GIF。推奨は 1200 × 630 ピクセル。すぐに保存されます。',
  'social.remove': '画像を削除',
  'social.look': 'プレビュー',
};
