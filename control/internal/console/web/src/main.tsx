import { render } from 'preact';
import '../../../../../shared/design/tokens.css';
import './style/base.css';
import './style/shell.css';
import './style/parts.css';
import './style/controls.css';
import './style/page.css';
import './style/rules.css';
import './theme';
import { App } from './app';
import { goHome } from './home';
import { base, follow } from './route';
import { enter } from './switch';
import { preferred, speak } from './text';
import { keepFocus } from './ui/focus';

if (!goHome()) {
  await speak(preferred());
  follow(enter);
  keepFocus();
  render(<App />, document.body);
}

// The worker shows a page while the server cannot be reached. Without it, the browser shows its own.
if (import.meta.env.PROD && 'serviceWorker' in navigator)
  navigator.serviceWorker.register(`${base}/worker.js`).catch(() => undefined);
