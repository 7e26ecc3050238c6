export { WebhookScreen } from './webhook';
export { Webhooks } from './webhooks';
