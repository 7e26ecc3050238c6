import { api, type Schema } from '../../api/client';
import { useResource, type Resource } from '../../ui/resource';

/** The ways to sign in that this installation offers. */
export const useMethods = (): Resource<Schema<'SignInMethods'>> =>
  useResource('methods', (signal) => api.get('/api/auth/methods', { signal, signIn: true }));
