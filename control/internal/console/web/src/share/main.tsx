// The page of a shared report. It is small and separate from the console: its visitors have no account, and it may be embedded.
import { render } from 'preact';
import '../../../../../../shared/design/tokens.css';
import '../style/base.css';
import '../style/parts.css';
import '../style/page.css';
import '../screens/analytics/charts.css';
import '../screens/analytics/analytics.css';
import './share.css';
import { languages, show, type Language } from '../text';
import { Shared } from './shared';

// Pages that are embedded may have no storage, so the system alone chooses the theme, and the server the language.
const dark = matchMedia('(prefers-color-scheme: dark)');
const contrast = matchMedia('(prefers-contrast: more)');

function colour(): void {
  document.documentElement.dataset['theme'] = contrast.matches ? 'contrast' : dark.matches ? 'dark' : 'light';
}

colour();
dark.addEventListener('change', colour);
contrast.addEventListener('change', colour);

const asked = document.documentElement.lang;
await show(asked in languages ? (asked as Language) : 'en');
render(<Shared token={location.pathname.split('/')[2] ?? ''} />, document.body);
