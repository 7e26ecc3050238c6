// The gallery of all parts, for `make dev` and its test. No build of the console contains it.
import { render } from 'preact';
import '../../../../../../shared/design/tokens.css';
import '../style/base.css';
import '../style/shell.css';
import '../style/parts.css';
import '../style/controls.css';
import '../style/page.css';
import '../style/rules.css';
import { languages, show, type Language } from '../text';
import { Gallery } from './gallery';
import './gallery.css';

const wanted = new URLSearchParams(location.search);
const language = wanted.get('language') ?? 'en';
await show(language in languages ? (language as Language) : 'en');
document.documentElement.dataset['theme'] = wanted.get('theme') ?? 'light';
// Another direction than that of the language shows whether all parts mirror.
document.documentElement.dir = wanted.get('direction') ?? document.documentElement.dir;
render(<Gallery />, document.body);
