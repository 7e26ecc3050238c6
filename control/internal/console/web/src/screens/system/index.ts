export { EdgesScreen } from './edges';
export { Reports } from './reports';
