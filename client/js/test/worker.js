import { session } from './browser.js';

onmessage = async ({ data }) => {
  postMessage(await session(data).catch(String));
};
