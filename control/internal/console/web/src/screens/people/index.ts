export { UserScreen } from './user';
export { Users } from './users';
