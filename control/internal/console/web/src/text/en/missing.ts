export const missing = {
  'missing.count': { one: '{n} slug', other: '{n} slugs' },
  'missing.hint':
    'Addresses on your domains that visitors asked for and that lead nowhere, such as misprints. Make a link for those that matter.',
  'missing.hintAll': 'Addresses on all hosts of the service that visitors asked for and that lead nowhere.',
  'missing.views': 'Hosts',
  'missing.own': 'This workspace',
  'missing.all': 'All hosts',
  'missing.address': 'Address',
  'missing.requests': 'Requests',
  'missing.first': 'First asked for',
  'missing.last': 'Last asked for',
  'missing.newOn': 'New link on {domain}',
  'missing.none': 'Nothing is missing',
  'missing.noneHint':
    'Nobody asked in vain for an address on the domains of this workspace. Figures arrive here within a minute. The shared domain is not included.',
  'missing.noneHintAll': 'Nobody asked for a slug that does not exist. Figures arrive here within a minute.',
} as const;
