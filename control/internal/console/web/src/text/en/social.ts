export const social = {
  'social.title': 'Social preview',
  'social.hint': 'Networks and messengers show it. Without these fields, they show the preview of the destination.',
  'social.ogTitle': 'Title of the preview',
  'social.ogDescription': 'Description of the preview',
  'social.layout': 'Layout',
  'social.auto': 'Large with an image, otherwise small',
  'social.large': 'Large',
  'social.small': 'Small',
  'social.image': 'Image',
  'social.imageHint': 'JPEG, PNG, WebP or GIF of at most 10 MB, best 1200 × 630 pixels. It is saved at once.',
  'social.remove': 'Remove the image',
  'social.look': 'Preview',
} as const;
