export { DomainScreen, DomainSettings } from './domain';
export { Domains } from './domains';
