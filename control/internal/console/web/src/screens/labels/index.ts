export { BundleScreen } from './bundle';
export { Bundles } from './bundles';
export { Tags } from './tags';
export { Templates } from './templates';
