// A link's preview: how social networks show it in posts.
import { h, replace } from './dom.js';
import { get, post, put, wrong } from './api.js';
import { may } from './choice.js';
import { attempt, button, card, field, form, notify } from './ui.js';

const most = 10 * 2 ** 20; // maximum size of an image, in bytes

export function preview(u, { signal }) {
  const picture = h('div', { class: 'list' }), look = h('div', { class: 'list' });
  const words = form([
    field('ogTitle', 'Title', { value: u.ogTitle ?? '', maxlength: 100, autocomplete: 'off', placeholder: u.title ?? '' }),
    field('ogDescription', 'Description', { rows: 3, maxlength: 200, value: u.ogDescription ?? '' }),
    field('twitterCardType', 'Card', { value: u.twitterCardType ?? '', options: [['', 'Large with an image, otherwise small'], ['summary_large_image', 'Large'], ['summary', 'Small']] }),
  ], 'Save', async (v) => {
    u = await put(`/api/urls/${u.id}`, { ogTitle: v.ogTitle.trim() || null, ogDescription: v.ogDescription.trim() || null, twitterCardType: v.twitterCardType || null });
    notify('Saved. Networks that have seen the link may show the old preview for a while.');
    draw();
  }, { oninput: drawLook, kind: '' });

  // Load the image from this origin, because the public address may be another one.
  const image = (alt) => u.ogImage && h('img', { src: `/api/og-images/${encodeURIComponent(u.ogImage)}`, alt });

  function draw() {
    const none = button('Remove the image', () => attempt(none, async () => {
      u = await put(`/api/urls/${u.id}`, { ogImage: null });
      notify('Removed.');
      draw();
    }), { kind: 'danger-quiet', symbol: 'trash' });
    replace(picture, form([field('file', u.ogImage ? 'Another image' : 'Image', { type: 'file', accept: 'image/jpeg,image/png,image/webp,image/gif', help: 'JPEG, PNG, WebP or GIF, at most 10 MB. Recommended: 1200 by 630 pixels.' })], 'Upload', async (v, self) => {
      const [file] = self.elements.file.files;
      if (!file) throw wrong('file', 'choose a file');
      if (file.size > most) throw wrong('file', 'is larger than 10 MB');
      const body = new FormData();
      body.append('file', file);
      await post(`/api/og-images/upload/${u.id}`, body);
      u = await get(`/api/urls/${u.id}`, { signal });
      notify('Uploaded.');
      draw();
      picture.querySelector('input').focus();
    }, { kind: '' }), u.ogImage && h('div', { class: 'actions' }, none));
    drawLook();
  }

  // drawLook updates the preview while the user types.
  function drawLook() {
    const { ogTitle, ogDescription, twitterCardType } = words.elements;
    const title = ogTitle.value.trim(), text = ogDescription.value.trim();
    if (!title && !text && !u.ogImage) return replace(look, h('p', { class: 'none' }, 'Without these fields, networks follow the link and show the preview of its destination.'));
    const small = twitterCardType.value === 'summary' || (!twitterCardType.value && !u.ogImage);
    replace(look, h('div', { class: small ? 'social small' : 'social' }, image('The image of the preview'), h('div', { class: 'words' }, h('small', null, new URL(u.shortUrl).host), h('h3', null, title || u.title || 'Shortline'), text && h('p', { class: 'help' }, text))),
      h('p', { class: 'help' }, 'Each network has its own layout.'));
  }

  draw();
  if (!may('EDITOR')) return card('How it looks', look);
  return h('div', { class: 'columns' }, card('Text', words), h('div', { class: 'list' }, card('How it looks', look), card('Image', picture)));
}
