export { Account } from './account';
export { enter } from './ceremony';
export { Door } from './door';
export { Factors } from './enrol';
