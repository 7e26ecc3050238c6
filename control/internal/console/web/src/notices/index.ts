// What the navigation opens beside screens. It is one file of the build.
export { Notices } from './notices';
export { Steps } from './steps';
