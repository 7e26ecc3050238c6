// What the list of links needs only after somebody has pressed something. It is a file of its own in the build.
import './listing.css';

export { bin, turn } from './actions';
export { Bulk } from './bulk';
export { DisplayMenu } from './display';
export { Filters } from './filters';
export { Asking } from './asking';
