// The names that commands still import from here.

export {
  type Account,
  type CachedToken,
  isInForce,
  needsRenewal,
  type RememberedLimit,
  StoreError,
  type TokenStore,
  type Turn,
} from './token-cache.ts';
