// The screens about links. They are one file of the build, because together they are a fifth smaller than alone.
export { Analytics, LinkAnalytics } from './analytics/analytics';
export { ExperimentScreen } from './experiment/experiment';
export { History } from './history/history';
export { ImportScreen } from './imports/import';
export { Imports } from './imports/imports';
export { Duplicate } from './link/actions';
export { LinkScreen } from './link/link';
export { Live } from './live/live';
export { Missing } from './missing/missing';
export { Designer } from './qr/qr';
export { Sheet } from './qr/sheet';
export { Rules } from './rules/rules';
export { Trash } from './trash/trash';
