// Names of resources and methods. They follow from the tags and the operation ids of the document, without the noun of the resource.

const resourceNames = { 'Single sign-on': 'sso', URLs: 'urls', 'UTM templates': 'utmTemplates', 'API keys': 'apiKeys' };

/** The noun of a resource in operation ids, if it is not the tag in the singular. */
const nouns = {
  'Conversion settings': 'ConversionSettings',
  'Identity providers': 'OIDCProvider',
  'Single sign-on': 'SSO',
  'System settings': 'Setting',
  Audit: 'AuditLog',
  Images: 'OGImage',
};

/** Methods whose id without the noun would say too little. */
const methodNames = {
  addManyToBundle: 'addURLs',
  addToBundle: 'addURL',
  beginPasskey: 'beginRegistration',
  finishPasskey: 'finishRegistration',
  listRoutingTemplates: 'listTemplates',
  liveClicks: 'live',
  moveInBundle: 'moveURL',
  removeFromBundle: 'removeURL',
  rotateConversionKey: 'rotateKey',
  updateRoutingSettings: 'updateSettings',
};

export const resourceOf = (tag) => resourceNames[tag] ?? lowerFirst(pascal(tag));

export function nameOf({ operationId, tags: [tag] }) {
  if (methodNames[operationId]) return methodNames[operationId];
  const noun = nouns[tag] ?? pascal(tag).replace(/s$/, '');
  const without = upperFirst(operationId).replace(new RegExp(`${upperFirst(noun)}s?(?![a-z])|^Url(?=[A-Z])`), '');
  return lowerFirst(without || operationId);
}

export const upperFirst = (name) => name[0].toUpperCase() + name.slice(1);

/** Makes the first word lower case, also if it is an abbreviation: QRCode is qrCode. */
const lowerFirst = (name) => name.replace(/^([A-Z]+(?![a-z])|[A-Z])/, (word) => word.toLowerCase());

const pascal = (words) => words.split(/[ -]/).map(upperFirst).join('');
