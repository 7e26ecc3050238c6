export { Shortline } from './client.js';
export { and, condition, or } from './conditions.js';
export { APIError, ConnectionError, WebhookError } from './errors.js';
export { verifyWebhook } from './webhook.js';
