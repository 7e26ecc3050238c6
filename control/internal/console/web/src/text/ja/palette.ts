import type { palette as en } from '../en/palette';
import type { Translation } from '../message';

export const palette: Translation<typeof en> = {
  'palette.title': '検索と移動',
  'palette.search': 'リンク、画面、操作',
  'palette.results': '検索結果',
  'palette.nothing': '見つかりませんでした',
  'palette.workIn': '{name} に切り替える',
  'palette.theme': 'テーマ: {name}',
  'palette.language': '言語: {name}',
  'palette.keys': 'キーボードショートカット',
};
