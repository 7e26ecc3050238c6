import hooks from 'eslint-plugin-react-hooks';
import tseslint from 'typescript-eslint';
import { catalogue } from './lint/catalogue.js';

export default tseslint.config(
  { ignores: ['node_modules', 'src/api/schema.d.ts'] },
  ...tseslint.configs.strictTypeChecked,
  ...tseslint.configs.stylisticTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: { allowDefaultProject: ['eslint.config.js', 'lint/*.js'] } } },
    plugins: { 'react-hooks': hooks, shortline: { rules: { catalogue } } },
    rules: {
      'react-hooks/rules-of-hooks': 'error',
      'react-hooks/exhaustive-deps': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/prefer-nullish-coalescing': ['error', { ignorePrimitives: { string: true } }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      'max-lines': ['error', 500],
      'max-lines-per-function': ['error', { max: 80, skipBlankLines: true, skipComments: true }],
    },
  },
  // The gallery is for developers.
  { files: ['**/*.tsx'], ignores: ['**/*.test.tsx', 'src/gallery/*'], rules: { 'shortline/catalogue': 'error' } },
  { files: ['**/*.test.ts', '**/*.test.tsx'], rules: { 'max-lines-per-function': 'off' } },
  {
    files: ['**/*.js'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly' } },
    ...tseslint.configs.disableTypeChecked,
  },
);
