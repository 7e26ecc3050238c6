export { BundleScreen } from './bundle';
export { Bundles } from './bundles';
export { LabelLinks } from './label';
export { Tags } from './tags';
export { Templates } from './templates';
