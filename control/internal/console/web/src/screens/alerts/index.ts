export { Alerts } from './alerts';
