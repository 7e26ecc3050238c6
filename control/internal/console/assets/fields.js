// Names and values of fields of links, rules, variants, bundles and webhooks, in words.
import { statuses } from './ui.js';
import { number, time } from './format.js';
import { sentence } from './conditions.js';
import { parameters } from './campaign.js';

const names = {
  originalUrl: 'Destination', title: 'Title', status: 'Status', tags: 'Tags', startsAt: 'Starts', expiresAt: 'Expires', maxClicks: 'Maximum clicks', expiredUrl: 'Afterwards', password: 'Password', hasPassword: 'Password',
  redirectCode: 'Redirect', externalId: 'External id', notes: 'Notes', isABTesting: 'A/B test', isSmartRouting: 'Use of the rules', defaultUrl: 'If no rule matches', ogTitle: 'Preview: title', ogDescription: 'Preview: description',
  ogImage: 'Preview: image', twitterCardType: 'Preview: card', workspaceId: 'Workspace', suspendedReason: 'Reason of the suspension',
  description: 'Description', color: 'Colour', icon: 'Icon', urls: 'Links', url: 'Address', events: 'Events', scope: 'Links', headers: 'Custom headers', hasSecret: 'Secret',
  name: 'Name', targetUrl: 'Destination', priority: 'Priority', weight: 'Weight', isActive: 'Enabled', conditions: 'Conditions',
  ...Object.fromEntries(parameters.map(([name, label]) => [name, `UTM: ${label.toLowerCase()}`])),
};

// fieldName returns the name of a field for people.
export const fieldName = (name) => names[name] ?? name;

// fieldValue returns the value of a field for people.
export function fieldValue(name, value) {
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && !value.length)) return '\u2013';
  if (name === 'status') return statuses[value] ?? value;
  if (name === 'conditions') return sentence(value);
  if (name === 'maxClicks') return number(value);
  if (/At$/.test(name)) return time(value);
  if (name === 'urls') return `${number(value.length)} ${value.length === 1 ? 'link' : 'links'}`;
  if (name === 'headers') return Object.entries(value).map(([header, text]) => `${header}: ${text}`).join(', ') || '\u2013';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join(', ') : String(value);
}
