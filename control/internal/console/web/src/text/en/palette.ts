export const palette = {
  'palette.title': 'Find and go',
  'palette.search': 'Link, screen or action',
  'palette.results': 'Results',
  'palette.nothing': 'Nothing found',
  'palette.workIn': 'Work in {name}',
  'palette.theme': 'Theme: {name}',
  'palette.language': 'Language: {name}',
  'palette.keys': 'Keyboard shortcuts',
} as const;
