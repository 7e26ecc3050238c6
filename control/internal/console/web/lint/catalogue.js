/**
 * A rule for eslint: text that people read comes from the message catalogue (src/text), not from a component. It finds words
 * between tags and in the attributes that browsers show or read out.
 *
 * @type {import('eslint').Rule.RuleModule}
 */
export const catalogue = {
  meta: { type: 'problem', schema: [], messages: { text: 'Move the text {{text}} to the catalogue in src/text.' } },
  create(context) {
    const shown = new Set([
      'title',
      'alt',
      'placeholder',
      'label',
      'aria-label',
      'aria-description',
      'aria-roledescription',
    ]);
    const report = (node, value) => {
      if (typeof value === 'string' && /\p{Letter}/u.test(value)) {
        context.report({ node, messageId: 'text', data: { text: JSON.stringify(value.trim()) } });
      }
    };
    const check = (node) => {
      switch (node?.type) {
        case 'Literal':
          return report(node, node.value);
        case 'TemplateLiteral':
          return node.quasis.forEach((part) => report(part, part.value.cooked));
        case 'ConditionalExpression':
          return [node.consequent, node.alternate].forEach(check);
        case 'LogicalExpression':
          return [node.left, node.right].forEach(check);
        case 'BinaryExpression':
          return node.operator === '+' ? [node.left, node.right].forEach(check) : undefined;
        case 'JSXExpressionContainer':
          return check(node.expression);
      }
    };
    return {
      JSXText: (node) => report(node, node.value),
      'JSXElement > JSXExpressionContainer': (node) => check(node.expression),
      'JSXFragment > JSXExpressionContainer': (node) => check(node.expression),
      JSXAttribute: (node) => {
        if (shown.has(node.name.name)) check(node.value);
      },
    };
  },
};
